import { MoveInput } from '../../src/domain/elastic-ip-move/elastic-ip-move.ts'
import type { AccountApi } from './account-api/start-account-api.ts'
import type { Breakage } from './breakage.ts'
import type { SendAlert } from './send-alert.ts'
import { createServerDown } from './server-down.ts'
import type { Slack } from './slack/slack.ts'
import type { StoredRequests } from './stored-requests.ts'

interface BreakageParts {
  slack: Pick<Slack, 'faults'>
  accountApi: Pick<AccountApi, 'faults' | 'journal' | 'world'>
  requests: Pick<StoredRequests, 'open' | 'shiftTimes'>
  sendAlert: SendAlert
}

const slowMs = 2_000
const skippedHours = 4

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
    {
      id: 'moved-meanwhile',
      name: 'Someone else moves the address',
      effect: 'Assigns the Elastic IP of the newest open request to a third server, without Lockkeeper.',
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

async function moveMeanwhile({ accountApi: { world }, requests }: Pick<BreakageParts, 'accountApi' | 'requests'>): Promise<string> {
  const request = (await requests.open()).find(({ kind }) => kind === 'ip.move')
  if (!request) return 'No open request moves an address. Request a move first.'
  const { elasticIpId } = MoveInput.parse(request.input)
  const third = world.third(elasticIpId)
  world.moveBehindOurBack(elasticIpId, third.id)
  return `${world.elasticIp(elasticIpId)?.address} is on ${third.hostname} now.`
}

async function skipHours({ open, shiftTimes }: BreakageParts['requests']): Promise<string> {
  const waiting = (await open()).filter(({ state }) => state === 'waiting' || state === 'approved')
  for (const request of waiting) await shiftTimes(request, skippedHours * 3_600_000)
  if (waiting.length === 0) return 'No request is open. Request a change first.'
  return waiting.length === 1
    ? `1 request is ${skippedHours} hours older now.`
    : `${waiting.length} requests are ${skippedHours} hours older now.`
}
