import type { Command } from './commands.ts'
import { compare } from './compare.ts'
import type { Fault } from './replicas.ts'
import { checkReports } from './story.ts'
import { letTimePass, settleDown, timeLeftMs, untilRecord } from './waiting.ts'

export function arrive(number: number): Command {
  return {
    check: ({ requests }) => requests.some(({ kind }) => kind === 'ip.move'),
    toString: () => `arrive(#${number})`,
    async run(model, session) {
      const moves = model.requests.filter(({ kind }) => kind === 'ip.move')
      const request = moves[number % moves.length]
      const elasticIpId = request?.resource.split(':')[1] ?? ''
      if (!request || session.accountApi.world.elasticIp(elasticIpId)?.status !== 'moving') return
      const same = moves.filter(({ resource }) => resource === request.resource)
      for (const one of same) await settleDown(session, one)
      session.accountApi.world.endMove(elasticIpId)
      for (const one of same) {
        if (one.state !== 'tracking') continue
        await settleDown(session, one)
        await checkReports(session, one)
      }
    },
  }
}

/** Time passes for a waiting request: half of what is left, which triggers a reminder, or all of it. */
export function tick(number: number, runsOut: boolean): Command {
  return {
    check: ({ requests }) => requests.some(({ state }) => state === 'waiting'),
    toString: () => `tick(#${number}${runsOut ? ', time runs out' : ''})`,
    async run(model, session) {
      const waiting = model.requests.filter(({ state }) => state === 'waiting')
      const request = waiting[number % waiting.length]
      if (!request) return
      const leftMs = await timeLeftMs(session, request)
      // With less time left, the request might expire before the run ends.
      if (!runsOut && leftMs > 90_000) {
        await session.records.shiftTimes(request.id, leftMs / 2)
        await untilRecord(session, request, ({ reminded }) => reminded > 0, 'nobody is reminded of a request')
        return compare(model, session, request, [], {}, false)
      }
      await letTimePass(session, request)
      await untilRecord(session, request, ({ state }) => state === 'expired', 'a request whose time is over still waits')
      await compare(model, session, request, [], {}, true)
      await checkReports(session, request)
    },
  }
}

/** A replica crashes, whatever its workers are doing, and a new one takes its place. */
export function crash(replica: Fault['replica']): Command {
  return {
    check: () => true,
    toString: () => `crash(${replica})`,
    async run(model, session) {
      for (const request of model.requests) if (request.state === 'started') request.mayBeLost = true
      await session.arm({ is: 'crash', replica, before: 0 }, []).mend()
      model.faults.crashes += 1
    },
  }
}
