import { resourcesOf } from '../../src/domain/request.ts'
import { refusal } from './account-api/answer.ts'
import type { AccountApi } from './account-api/start-account-api.ts'
import type { Breakage } from './breakage.ts'
import type { SendAlert } from './send-alert.ts'
import { createServerDown } from './server-down.ts'
import type { Slack } from './slack/slack.ts'
import type { StoredRequests } from './stored-requests.ts'

interface BreakageParts {
  slack: Pick<Slack, 'faults'>
  accountApi: Pick<AccountApi, 'faults' | 'journal' | 'limiter' | 'world'>
  requests: Pick<StoredRequests, 'open' | 'shiftTimes'>
  sendAlert: SendAlert
}

const slowMs = 2_000
const skippedHours = 4
/** One of several addresses of web-1, so that an evacuation ends in part. */
const refusedAddress = '203.0.113.15'

/** Creates what people can break in the sandbox. Add the next one to this list. */
export function createBreakages({ slack, accountApi, requests, sendAlert }: BreakageParts): Breakage[] {
  return [
    createServerDown({ accountApi, sendAlert }),
    switchOf('account-api-away', 'The account API is away', "All of Lockkeeper's requests to it fail.", (isOn) =>
      accountApi.faults.add({ kind: 'drop-before', times: Number.POSITIVE_INFINITY, when: isOn }),
    ),
    switchOf('slack-slow', 'Slack is slow', `Slack takes ${slowMs / 1000} seconds longer to answer Lockkeeper.`, (isOn) => {
      for (const method of ['*', 'response_url'])
        slack.faults.add({ method, kind: 'delay', delayMs: slowMs, times: Number.POSITIVE_INFINITY, when: isOn })
    }),
    switchOf(
      'address-refused',
      `The account API refuses ${refusedAddress}`,
      'Moves of this one address fail. Evacuate web-1 to see it.',
      (isOn) => refuseMoves(accountApi, isOn),
    ),
    createLimitUsedUp(accountApi),
    {
      id: 'moved-meanwhile',
      name: 'Someone else moves an address',
      effect: 'Assigns an Elastic IP of the newest open move or evacuation to a third server, without Lockkeeper.',
      kind: 'act',
      verb: 'Move it',
      run: () => moveMeanwhile({ accountApi, requests }),
    },
    {
      id: 'hours-later',
      name: 'Four hours later',
      effect: `Makes all open requests ${skippedHours} hours older, so that they expire.`,
      kind: 'act',
      verb: 'Skip 4 hours',
      run: () => skipHours(requests),
    },
  ]
}

/** `plan` is called once, and receives the function that says whether the switch is on. */
function switchOf(id: string, name: string, effect: string, plan: (isOn: () => boolean) => unknown): Breakage {
  let on = false
  plan(() => on)
  const turn = (next: boolean) => {
    on = next
    return undefined
  }
  return { id, name, effect, kind: 'switch', isOn: () => on, turn }
}

function refuseMoves({ faults, world }: BreakageParts['accountApi'], isOn: () => boolean) {
  const { id } = world.elasticIps().find(({ address }) => address === refusedAddress) ?? {}
  const { status, body } = refusal(422, 'ELASTIC_IP_LOCKED', 'The Elastic IP is locked').answer
  return faults.add({
    method: 'PATCH',
    path: `/elastic_ips/${id}`,
    kind: 'status',
    status,
    body,
    times: Number.POSITIVE_INFINITY,
    when: isOn,
  })
}

function createLimitUsedUp({ limiter }: BreakageParts['accountApi']): Breakage {
  const isOn = () => limiter.usedByAnotherTool('read') + limiter.usedByAnotherTool('write') > 0
  return {
    id: 'limit-used-up',
    name: 'Another tool uses up the limit',
    effect: "For one minute, the account API refuses all reads and writes of Lockkeeper's key.",
    kind: 'switch',
    isOn,
    turn(on) {
      limiter.forgetAnotherTool()
      if (on) for (const kind of ['read', 'write'] as const) limiter.useByAnotherTool(kind)
      return undefined
    },
  }
}

async function moveMeanwhile({ accountApi: { world }, requests }: Pick<BreakageParts, 'accountApi' | 'requests'>): Promise<string> {
  const [request] = (await requests.open()).filter(({ kind }) => kind === 'ip.move' || kind === 'ip.evacuate')
  if (!request) return 'No open request moves an address. Request a move or an evacuation first.'
  const ids = resourcesOf(request).map((resource) => resource.replace(/^elastic_ip:/, ''))
  // The last address of an evacuation is sent last, so that it can still be moved while the others are.
  const elasticIp = world.elasticIps().findLast(({ id }) => ids.includes(id))
  if (!elasticIp) return 'The account has none of the addresses of the newest open request.'
  const third = world.third(elasticIp.id)
  world.moveByAnotherPerson(elasticIp.id, third.id)
  return `${elasticIp.address} is on ${third.hostname} now.`
}

/** What is approved and not sent yet keeps its times, because its approvals are signed with theirs. A key waits for its requester instead. */
async function skipHours({ open, shiftTimes }: BreakageParts['requests']): Promise<string> {
  const waiting = (await open()).filter(({ state, kind }) => state === 'waiting' || (state === 'approved' && kind.startsWith('key.')))
  for (const request of waiting) await shiftTimes(request, skippedHours * 3_600_000)
  if (waiting.length === 0) return 'No request is open. Request a change first.'
  return waiting.length === 1
    ? `1 request is ${skippedHours} hours older now.`
    : `${waiting.length} requests are ${skippedHours} hours older now.`
}
