import fc from 'fast-check'
import { expect } from 'vitest'
import { buttonValue } from '../../src/messages/button-ids.ts'
import { openRecords } from '../journeys/records.ts'
import { forgetLists, ops, people, requestMove, startWorld, untilShown } from '../journeys/world.ts'
import { evilMarkup, evilPrivateMarkup, garbageAnswer, garbageRequest, statusFor } from './garbage-payloads.ts'

/**
 * Sends batches of garbage requests to a whole bot, `atOnce` in each, while the account API sometimes answers garbage. Checks that every
 * request with content is acknowledged in time, that nothing is written to the account, and that no garbage becomes a mention or a link in
 * the bot's messages.
 */
export async function throwGarbage({ batches, atOnce, seed }: { batches: number; atOnce: number; seed: number }) {
  const world = await startWorld({ env: { LOG_LEVEL: 'debug' } })
  const { slack, accountApi } = world
  const { card } = await requestMove(world)
  const [request] = await openRecords(world).all()
  const [bot] = world.bots
  if (!request || !bot) throw new Error('there is nothing to throw at')
  const { clicks, submissions, options } = bot.interactions
  const forms = ['virtualMachineId', 'name', 'elasticIpId', 'serverId', 'access', 'addresses', 'keyId']
  const known = {
    words: bot.commands.map(({ words }) => words),
    clicks: Object.keys(clicks),
    submissions: Object.keys(submissions),
    options: Object.keys(options),
    blocks: [...new Set([...forms, 'reason', 'confirmed', 'constructor'])],
    buttonValue: buttonValue(request),
    cardTs: card.ts,
  }
  const statuses: Record<number, number> = {}
  let garbledAnswers = 0
  let next = 0
  const said: string[] = []

  /** Returns what was sent to Slack since the last call and is not escaped. */
  function unescaped(): string[] {
    const found: string[] = []
    for (; next < slack.journal.length; next += 1) {
      const { method, args } = slack.journal[next] ?? {}
      // A person's id as the channel stands for their direct messages.
      const direct = /^[DUW]/.test(String((args as { channel?: unknown } | undefined)?.channel))
      const isEphemeral = direct || method === 'chat.postEphemeral' || method === 'response_url'
      found.push(...markupIn(args, isEphemeral ? evilPrivateMarkup : evilMarkup, String(method)))
    }
    return found
  }

  const batch = fc.tuple(
    fc.array(garbageRequest(known), { minLength: atOnce, maxLength: atOnce }),
    fc.array(fc.option(garbageAnswer), { minLength: 8, maxLength: 8 }),
  )
  await fc.assert(
    fc.asyncProperty(batch, async ([requests, changes]) => {
      accountApi.faults.clear()
      await forgetLists(world)
      const garbled = accountApi.faults.add({
        method: 'GET',
        times: Number.POSITIVE_INFINITY,
        kind: 'instead',
        instead: ({ body }) => {
          const change = changes[garbled.fired % changes.length]
          if (change) garbledAnswers += 1
          return { body: change ? change(body) : body }
        },
      })
      // Bolt answers an unacknowledged request with 404 after 3 s.
      const answers = await Promise.all(requests.map((raw) => slack.sendRaw(raw).then((answer) => ({ ...answer, raw }))))
      for (const { status, body, raw } of answers) {
        statuses[status] = (statuses[status] ?? 0) + 1
        expect([status, raw]).toEqual([statusFor(raw), raw])
        said.push(...markupIn(parsed(body), evilMarkup, 'answer'))
      }
      expect([...unescaped(), ...said]).toEqual([])
      expect(accountApi.journal.writes()).toEqual([])
    }),
    // It is not shrunk, because what one batch leaves behind is part of the next.
    { seed, numRuns: batches, endOnFailure: true },
  )

  accountApi.faults.clear()
  await world.chiara.command('/infra help', { channel: ops })
  await untilShown(slack, people.chiara, /What you can do/)
  expect(unescaped()).toEqual([])
  expect(accountApi.journal.writes()).toEqual([])
  expect(world.log.filter((line) => /"level":"fatal"/.test(line))).toEqual([])
  const defects = world.log.filter((line) => line.includes('"reference"')).map((line) => /"message":"[^"]*"/.exec(line)?.[0] ?? line)
  return { statuses, garbledAnswers, calls: slack.journal.length, defects: [...new Set(defects)] }
}

function parsed(body: string): unknown {
  try {
    return JSON.parse(body)
  } catch {
    return body
  }
}

/** Members that Slack shows verbatim, or not at all. */
const notShown = new Set([
  'value',
  'initial_value',
  'errors',
  'private_metadata',
  'metadata',
  'callback_id',
  'action_id',
  'block_id',
  'view_id',
  'trigger_id',
  'user_id',
  'user',
  'users',
  'channel',
])

/** Returns the texts that Slack reads as mrkdwn and that contain a mention or a link from outside, with their places. */
function markupIn(value: unknown, evil: RegExp, at: string): string[] {
  if (typeof value === 'string') return evil.test(value) ? [`${at}: ${value.slice(0, 300)}`] : []
  if (typeof value !== 'object' || value === null) return []
  // Slack shows the text of these as it is.
  if (['plain_text', 'raw_text', 'text'].includes(String((value as { type?: unknown }).type))) return []
  return Object.entries(value).flatMap(([name, part]) => (notShown.has(name) ? [] : markupIn(part, evil, `${at}.${name}`)))
}
