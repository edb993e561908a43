import pLimit from 'p-limit'
import { afterAll, beforeAll, expect, vi } from 'vitest'
import type { AuditEntry } from '../../src/audit/chain.ts'
import type { JournalEntry } from '../sandbox/slack/slack.ts'
import type { Person } from '../sandbox/slack/workspace.ts'
import { type Actor, allActs, type PossibleAct, triggerOf } from './all-acts.ts'
import { openRecords, type Records } from './records.ts'
import { ops, shareWorld, type World } from './world.ts'

export const homeTeam = 'T0NIMBUS01'
const otherTeam = 'T0PARTNER1'
const shared = 'C0SHARED01'
const silent = 'C0SILENT01'

/** People who may not use the bot, or not in this channel. */
export interface Unwelcome {
  who: string
  /** Four letters for their ids. */
  mark: string
  person: Partial<Person>
  /** Set if only the channel is wrong. On the Home tab, which has no channel, these people may use the bot. */
  channelId?: string
  words: RegExp
}

const isGuest = { person: { isRestricted: true }, words: /^Guests can't use Lockkeeper/ }
const isForeign = { words: /^People from other workspaces can't use Lockkeeper/ }

export const unwelcome: [Unwelcome, ...Unwelcome[]] = [
  { who: 'a guest of several channels', mark: 'RSTR', ...isGuest },
  { who: 'a guest of one channel', mark: 'ULTR', ...isGuest, person: { isRestricted: true, isUltraRestricted: true } },
  { who: 'a bot', mark: 'BOTS', person: { isBot: true }, words: /^Bots can't use Lockkeeper/ },
  { who: 'somebody who was deactivated', mark: 'GONE', person: { deleted: true }, words: /^Deactivated accounts can't use Lockkeeper/ },
  { who: 'somebody of another workspace', mark: 'TEAM', person: { teamId: otherTeam }, ...isForeign },
  { who: 'a stranger', mark: 'STRA', person: { isStranger: true, teamId: otherTeam }, ...isForeign },
  { who: 'somebody whom Slack does not confirm', mark: 'MUTE', person: {}, words: /^Slack didn't confirm who you are/ },
  {
    who: 'a member in a shared channel',
    mark: 'SHAR',
    person: {},
    channelId: shared,
    words: /^Nobody can .* here: another organization shares this channel/,
  },
  {
    who: 'a member where Slack does not confirm the channel',
    mark: 'SILE',
    person: {},
    channelId: silent,
    words: /^Slack didn't confirm whether another organization shares this channel/,
  },
]

/** Adds a waiting request, so that every button has something to decide, and what Slack does not say. */
async function guard(world: World, records: Records) {
  const { slack, accountApi, bots } = world
  const [bot] = bots
  if (!bot) throw new Error('no bot was started')
  const { elasticIp, target } = accountApi.world.movable()
  const request = await records.create({
    kind: 'ip.move',
    resource: `elastic_ip:${elasticIp.id}`,
    input: { elasticIpId: elasticIp.id, serverId: target.id },
    facts: {},
  })
  slack.faults.add({
    method: 'users.info',
    kind: 'error',
    error: 'internal_error',
    times: 100_000,
    when: ({ user }) => String(user).includes('MUTE'),
  })
  slack.workspace.channels.push({ id: silent, name: 'silent', topic: '', members: ['U0LOCKKEEP'] })
  slack.faults.add({ method: 'conversations.info', kind: 'error', times: 100_000, when: ({ channel }) => channel === silent })
  // The bot reads the keys of the account once when it starts.
  await vi.waitUntil(() => accountApi.journal.length > 0, { timeout: 20_000 })
  return allActs(bot, request)
}

interface Tried {
  act: PossibleAct
  actor: Actor
  status: number
  /** What this person was shown, by any way. */
  words: string[]
}

/** Does each act as a different person, so that every answer and every audit entry belongs to one act. */
export async function tryAll(
  world: World,
  acts: PossibleAct[],
  { mark, person, channelId = ops }: Pick<Unwelcome, 'mark' | 'person' | 'channelId'>,
  answeredWithinMs = 20_000,
) {
  const { slack } = world
  const actors = acts.map((act, index): { act: PossibleAct; actor: Actor } => {
    const userId = `U0${mark}${String(index).padStart(4, '0')}`
    slack.workspace.people.push({ id: userId, name: `Somebody ${index}`, handle: userId.toLowerCase(), ...person })
    slack.invite(channelId, userId)
    return { act, actor: { userId, teamId: person.teamId ?? homeTeam, channelId } }
  })

  const tried: Tried[] = await pLimit(4).map(actors, async ({ act, actor }) => {
    const { status, body } = await slack.sendRaw(act.delivery(actor))
    return { act, actor, status, words: wordsIn(body) }
  })

  const wordsFor = readWords(slack.journal)
  const hasAnswer = ({ words, actor }: Tried) => words.length > 0 || wordsFor(actor.userId).length > 0
  await slack.until(() => tried.every(hasAnswer), { timeoutMs: answeredWithinMs }).catch(() => undefined)
  return tried.map((each) => ({ ...each, words: [...each.words, ...wordsFor(each.actor.userId)] }))
}

/** Texts around an answer in a modal and on the Home tab. */
const frames = ['Lockkeeper', 'Close']

/** Returns the texts of a message, a modal, a Home tab or an answer with options. A message has its words twice: as text and in blocks. */
function wordsIn(json: unknown): string[] {
  const texts = textsIn(json).filter((text) => !frames.includes(text))
  return texts.length > 0 ? [[...new Set(texts)].join(' ')] : []
}

export function textsIn(json: unknown): string[] {
  if (typeof json === 'string') return json.startsWith('{"') ? textsIn(JSON.parse(json)) : []
  if (typeof json !== 'object' || json === null) return []
  return Object.entries(json).flatMap(([name, value]) => (name === 'text' && typeof value === 'string' ? [value] : textsIn(value)))
}

const ways = ['chat.postEphemeral', 'chat.postMessage', 'views.open', 'views.publish']

/**
 * Returns a function that returns what the bot showed a person, by any way. It reads each of the thousands of calls once, because it is asked
 * after every change.
 */
function readWords(journal: readonly JournalEntry[]): (userId: string) => string[] {
  const found = new Map<unknown, string[]>()
  let read = 0

  function readOn(): void {
    const shown = journal.slice(read).filter(({ method }) => ways.includes(method))
    read = journal.length
    for (const { args } of shown)
      for (const id of new Set([args.user, args.user_id, args.channel, args.trigger_id])) {
        const words = found.get(id) ?? []
        found.set(id, words)
        words.push(...wordsIn(args))
      }
  }

  return (userId) => {
    if (read < journal.length) readOn()
    return [userId, triggerOf(userId)].flatMap((id) => found.get(id) ?? [])
  }
}

/** Returns what is wrong with a refusal. Empty if nothing is. */
export function faultsOf({ act, actor, status, words }: Tried, entries: AuditEntry[], expected: RegExp): string[] {
  const noted = entries.filter(({ by }) => by === actor.userId)
  const isRight = noted.length === 1 && noted[0]?.act === 'refused' && (noted[0].text ?? `click ${noted[0].attempted}`) === act.at
  // On a busy machine an interim answer comes first, or the empty form, which the refusal replaces.
  const refusals = words.filter((text) => !/^Slower than usual\.| Cancel /.test(text))
  return [
    ...(status === 200 ? [] : [`${act.name}: acknowledged with ${status}`]),
    ...(refusals.length > 0 && refusals.every((text) => expected.test(text)) ? [] : [`${act.name}: shown ${JSON.stringify(words)}`]),
    ...(isRight ? [] : [`${act.name}: the audit has ${JSON.stringify(noted.map(({ act: noun, text }) => `${noun} ${text}`))}`]),
  ]
}

/** Opens one world with a waiting request for all tests of a block. Returns functions that return it, and what a person can do in it. */
export function shareGuardedWorld() {
  const current = shareWorld()
  let acts: PossibleAct[]
  let close = () => {}
  beforeAll(async () => {
    const records = openRecords(current(), (end) => {
      close = end
    })
    // A worker's own reads, which begin after 15 s, must not count as those of the refused people.
    await records.redis.set(records.keys.repeated('assignments'), 'nobody', 'PX', 600_000)
    acts = await guard(current(), records)
  })
  afterAll(() => close())
  return { current, acts: () => acts }
}

/** Does these acts. Each must be refused and be in the audit, and none may read or write the account, record or post anything. */
export async function expectRefused(world: World, acts: PossibleAct[], each: Unwelcome): Promise<void> {
  const records = openRecords(world)
  const before = { records: await records.all(), calls: world.accountApi.journal.length }

  const tried = await tryAll(world, acts, each)

  // An entry may be written after the words are shown.
  await expect
    .poll(
      async () => {
        const entries = await records.audit()
        return tried.flatMap((one) => faultsOf(one, entries, each.words))
      },
      { timeout: 20_000 },
    )
    .toEqual([])
  expect(tried).toHaveLength(acts.length)
  expect(await records.all()).toEqual(before.records)
  expect(world.accountApi.journal.slice(before.calls)).toEqual([])
  expect(world.slack.messages(ops)).toHaveLength(1)
}

/** Returns the acts that are refused to these people: those who are only in the wrong channel are refused in that channel only. */
export function refusedTo({ channelId }: Unwelcome, acts: PossibleAct[]): PossibleAct[] {
  return acts.filter(({ place }) => place === 'channel' || channelId === undefined)
}
