import type { Data, ElasticIpState, EventState, MoveEnd, MovePhase, ServerState, VirtualMachineState } from './data/model.ts'

export interface NextMove {
  takesMs?: number
  /** What reads show meanwhile, each for an equal part of the time. Default: the target. */
  phases?: MovePhase[]
  /** `released`: becomes `releasing`. `unassigned`: active without a server. `returned`: active on the old server again. */
  endsIn?: MoveEnd
}

export interface WorldOptions {
  data: Data
  /** In ms. */
  moveTakes: { min: number; max: number }
  /** What reads show while an Elastic IP moves, each for an equal part of the time. */
  movePhases?: MovePhase[]
  now: () => number
}

/**
 * The state of the stand-in account, for its routes and for tests that look at it or change it behind the bot's back. No timers:
 * a move ends when somebody looks after its time has come. What is handed out are copies.
 */
export function createWorld({ data, moveTakes, movePhases = [{ server: 'target' }], now }: WorldOptions) {
  const events: EventState[] = []
  const planned: NextMove[] = []
  const issuedTokens: string[] = []

  function findElasticIp(id: string): ElasticIpState | undefined {
    const found = data.elasticIps.find((elasticIp) => elasticIp.id === id)
    return found && settle(found)
  }

  function liveElasticIp(id: string): ElasticIpState {
    const found = findElasticIp(id)
    if (!found) throw new Error(`the stand-in has no Elastic IP ${id}`)
    return found
  }

  function settle(elasticIp: ElasticIpState): ElasticIpState {
    const { move } = elasticIp
    if (move && move.endsIn !== 'never' && move.endsAt <= now()) end(elasticIp, move.endsIn)
    return elasticIp
  }

  function end(elasticIp: ElasticIpState, how: MoveEnd) {
    elasticIp.status = how === 'error' ? 'error' : how === 'released' ? 'releasing' : 'active'
    if (how === 'returned') elasticIp.serverId = elasticIp.move?.from ?? null
    if (how === 'unassigned') elasticIp.serverId = null
    delete elasticIp.move
  }

  /** What a read tells of it now. A server that is not active is not shown. */
  function shown(elasticIp: ElasticIpState): { status: string; serverId: string | null } {
    const { move, serverId, status } = elasticIp
    const phase = move && phaseOf(move)
    const told = { target: serverId, from: move?.from ?? null, none: null }[phase?.server ?? 'target']
    return { status: phase?.status ?? status, serverId: serverOf(told)?.dead ? null : told }
  }

  function phaseOf({ phases, startedAt, endsAt, endsIn }: NonNullable<ElasticIpState['move']>): MovePhase | undefined {
    const share = endsIn === 'never' ? 1 : (now() - startedAt) / (endsAt - startedAt)
    return phases[Math.min(Math.floor(share * phases.length), phases.length - 1)]
  }

  function serverOf(id: string | null): ServerState | undefined {
    return data.servers.find((server) => server.id === id)
  }

  /** Where an Elastic IP could go: not locked, on, in its project and site, and not the server it is on or comes from. */
  function targetsFor(elasticIp: ElasticIpState): ServerState[] {
    return data.servers.filter(
      (server) =>
        server.projectId === elasticIp.projectId &&
        server.site === elasticIp.site &&
        server.status === 'on' &&
        !server.locked &&
        !server.networkIncompatible &&
        server.id !== elasticIp.serverId &&
        server.id !== elasticIp.move?.from,
    )
  }

  /** Active ones on a server for which `pick` finds a target; the first of them, or the one after `skip` others. */
  function pairOf(pick: (elasticIp: ElasticIpState) => ServerState | undefined, skip = 0) {
    const pairs = data.elasticIps.map(settle).flatMap((elasticIp) => {
      const target = elasticIp.status === 'active' && elasticIp.serverId !== null ? pick(elasticIp) : undefined
      return target ? [{ elasticIp, target }] : []
    })
    const pair = pairs[skip]
    if (!pair) throw new Error('the stand-in has no such pair of an Elastic IP and a server')
    return structuredClone(pair)
  }

  return {
    /** The state itself, for the routes and for tests that need what the rest does not offer. */
    data,
    events,
    /** Every token that was ever given out, also of keys that are gone. */
    issuedTokens,
    now,

    shown,
    elasticIp: (id: string) => structuredClone(findElasticIp(id)),
    elasticIps: () => data.elasticIps.map((elasticIp) => structuredClone(settle(elasticIp))),
    server: (id: string) => structuredClone(serverOf(id)),
    virtualMachine: (id: string) => structuredClone(data.virtualMachines.find((machine) => machine.id === id)),

    /** An Elastic IP and a server it can be moved to. The same pair until something has changed. */
    movable: (skip = 0) => pairOf((elasticIp) => targetsFor(elasticIp)[0], skip),
    inAnotherSite: () =>
      pairOf((elasticIp) => data.servers.find(({ projectId, site }) => projectId === elasticIp.projectId && site !== elasticIp.site)),
    inAnotherProject: () =>
      pairOf((elasticIp) => data.servers.find(({ projectId, site }) => projectId !== elasticIp.projectId && site === elasticIp.site)),
    /** A server that it could be moved to, but neither the one that `movable` names nor one that a move under way involves. */
    third(elasticIpId: string): ServerState {
      const [first, second, ...rest] = targetsFor(liveElasticIp(elasticIpId))
      const third = rest.at(-1) ?? second ?? first
      if (!third) throw new Error(`the stand-in has no third server for ${elasticIpId}`)
      return structuredClone(third)
    },

    /** What becomes of the next move that is accepted; several wait for their turns. */
    nextMove: (next: NextMove) => void planned.push(next),
    /** Starts a move as an accepted PATCH does. */
    startMove(id: string, serverId: string): void {
      const elasticIp = liveElasticIp(id)
      const { takesMs, endsIn = 'active', phases = movePhases } = planned.shift() ?? {}
      const ms = takesMs ?? moveTakes.min + Math.random() * (moveTakes.max - moveTakes.min)
      elasticIp.move = { from: elasticIp.serverId, startedAt: now(), endsAt: now() + ms, endsIn, phases }
      elasticIp.status = 'moving'
      elasticIp.serverId = serverId
    },
    /** Ends a move under way now, however it was to end. */
    endMove(id: string, how: MoveEnd = 'active'): void {
      end(liveElasticIp(id), how)
    },
    /** Somebody else has moved it, and it has arrived. */
    moveBehindOurBack(id: string, serverId: string): void {
      const elasticIp = liveElasticIp(id)
      end(elasticIp, 'active')
      elasticIp.serverId = serverId
    },
    release(id: string): void {
      end(liveElasticIp(id), 'released')
    },
    /** It is gone: the account API answers 404. */
    remove(id: string): void {
      data.elasticIps.splice(data.elasticIps.indexOf(liveElasticIp(id)), 1)
    },
    /** It is not active any more: Elastic IPs that are assigned to it show no server. */
    killServer(id: string): void {
      const server = serverOf(id)
      if (!server) throw new Error(`the stand-in has no server ${id}`)
      Object.assign(server, { status: 'off', dead: true })
    },
    changeVirtualMachine(id: string, change: Partial<VirtualMachineState>): void {
      const machine = data.virtualMachines.find((one) => one.id === id)
      if (!machine) throw new Error(`the stand-in has no virtual machine ${id}`)
      Object.assign(machine, change)
    },
  }
}
export type World = ReturnType<typeof createWorld>
