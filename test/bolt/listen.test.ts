import { App as Bolt, type Logger, type Receiver } from '@slack/bolt'
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import type { AuditNote } from '../../src/audit/chain.ts'
import { guarded } from '../../src/bolt/app.ts'
import { listen } from '../../src/bolt/listen.ts'
import type { Origin, Person } from '../../src/domain/approval.ts'
import type { LoggedPayload } from '../../src/ops/log.ts'
import { createKeys } from '../../src/redis/key-names.ts'
import { modal, noticeView } from '../../src/slack/blocks.ts'
import type { Command } from '../../src/slack/commands.ts'
import { Refusal } from '../../src/slack/errors.ts'
import type { FormHandler, SubmissionAnswer } from '../../src/slack/interactions.ts'
import { writeMetadata } from '../../src/slack/payloads.ts'
import { mention, mrkdwn } from '../../src/slack/text.ts'
import { fakeApp } from '../fake-app.ts'
import { judging, type People } from '../given/access.ts'
import { ruleFor } from '../given/request.ts'
import { recordedPayloads } from './recorded-payloads.ts'

const ada = { id: 'U0ADA00001', team_id: 'T0NIMBUS01' }
const team = { id: 'T0NIMBUS01' }
const channel = { id: 'C0OPS00001' }
const origin: Origin = { teamId: team.id, channelId: channel.id, userId: ada.id, command: '/infra' }
const responseUrl = 'https://hooks.slack.com/actions/T0/1/x'
const metadata = writeMetadata({ origin })
const blocks = [{ type: 'input', block_id: 'reason' }]
const refusal = "Guests can't use Lockkeeper."

const typed = (text: string) => ({ command: '/infra', text, user_id: ada.id, channel_id: channel.id, team_id: team.id, trigger_id: 't1' })
const click = (actionId: string, more: object = { channel }) => ({
  type: 'block_actions',
  user: ada,
  team,
  trigger_id: 't1',
  actions: [{ action_id: actionId, block_id: 'b', action_ts: '1', value: 'v' }],
  ...more,
})
const shortcut = (callbackId: string, more: object) => ({
  user: ada,
  team,
  callback_id: callbackId,
  trigger_id: 't1',
  action_ts: '1.1',
  ...more,
})
const onMessage = { type: 'message_action', channel, message: { ts: '1795010400.000100', text: 'web-1' } }
const submission = (view: object = {}) => ({
  type: 'view_submission',
  user: ada,
  trigger_id: 't1',
  view: { id: 'V1', hash: 'h', callback_id: 'send', private_metadata: metadata, blocks, ...view },
})
const suggestion = (actionId: string, value = 'we') => ({
  type: 'block_suggestion',
  action_id: actionId,
  value,
  user: ada,
  view: { private_metadata: metadata },
})
const home = (tab: string) => ({
  type: 'event_callback',
  team_id: team.id,
  event_id: 'Ev1',
  event: { type: 'app_home_opened', user: ada.id, tab },
})

/** Everything that people can do: the payload, its name in the log and the audit, and where the person is. */
const deliveries: Record<string, { body: object; at: string; where: Partial<Origin> }> = {
  'a command': { body: typed('servers web'), at: 'command servers', where: origin },
  'a command with a form': { body: typed('ip move'), at: 'command ip move', where: origin },
  'a click': { body: click('press'), at: 'click press', where: { ...origin, command: '/ops' } },
  'a click that opens a form': { body: click('press-form'), at: 'click press-form', where: { channelId: channel.id } },
  'a click in a form': {
    body: click('press', { view: { id: 'V1', private_metadata: metadata } }),
    at: 'click press',
    where: origin,
  },
  'a click on the Home tab': { body: click('press', { view: { id: 'V1', type: 'home' } }), at: 'click press', where: { channelId: '' } },
  'a click on an unknown button': { body: click('constructor'), at: 'click constructor', where: { userId: ada.id } },
  'a global shortcut': { body: shortcut('use', { type: 'shortcut' }), at: 'shortcut use', where: { channelId: '', command: '/ops' } },
  'a message shortcut': { body: shortcut('use', onMessage), at: 'shortcut use', where: { ...origin, command: '/ops' } },
  'a shortcut that opens a form': { body: shortcut('use-form', onMessage), at: 'shortcut use-form', where: { channelId: channel.id } },
  'an unknown shortcut': { body: shortcut('long-gone', onMessage), at: 'shortcut long-gone', where: { userId: ada.id } },
  'a submission': { body: submission(), at: 'submission send', where: origin },
  'an option load': { body: suggestion('pick'), at: 'options pick', where: origin },
  'an unknown option load': { body: suggestion('toString'), at: 'options toString', where: origin },
  'an opened Home tab': { body: home('home'), at: 'home', where: { teamId: team.id, channelId: '', userId: ada.id } },
  ...Object.fromEntries(recordedPayloads.map(({ name, ...recorded }) => [`${name}, as an SDK of Slack records it`, recorded])),
}

const quiet = { debug() {}, info() {}, warn() {}, error() {}, setLevel() {}, getLevel: () => 'info', setName() {} } as unknown as Logger

interface Setup {
  /** What the read of the person does. */
  authorize?: () => Promise<void>
  standing?: Person['standing']
  /** What Redis says to the duplicate check. */
  claim?: (key: string) => Promise<string | null>
  /** What the form *send* is answered with, and after how long. */
  answer?: SubmissionAnswer
  afterMs?: number
}

/** A real Bolt app with Lockkeeper's listeners, behind its guard. */
async function setUp({
  authorize = async () => {},
  standing = 'member',
  claim,
  answer = { is: 'accepted', words: mrkdwn`Sent.` },
  afterMs = 0,
}: Setup = {}) {
  const handled: string[] = []
  const authorized: string[] = []
  const noted: AuditNote[] = []
  const origins: Origin[] = []
  const answers: string[] = []
  const homes: string[] = []
  const errors: string[] = []
  const acks: unknown[] = []
  const unhandled: LoggedPayload[] = []
  const updates: string[] = []
  const measured: unknown[] = []
  const say = (text: string) => {
    answers.push(text)
    return { is: 'sent' as const }
  }
  const did = (what: string) => async (given: { origin: Origin } | { slashCommand: { origin: Origin } }) => {
    handled.push(what)
    origins.push('origin' in given ? given.origin : given.slashCommand.origin)
  }
  const form = () => modal({ title: 'Form', blocks: [] })
  const opensForm: FormHandler<object> = { form, allow: did('allowed') }
  const seen = new Set<string>()
  const person: People['person'] = async (userId) => {
    authorized.push(userId)
    await authorize()
    return { userId, standing, teamIds: [team.id] }
  }
  const allowed = judging({ rules: [ruleFor()] }, { person }, async (note) => void noted.push(note))
  const app = fakeApp(allowed, {
    config: { slack: { command: '/ops' }, opsChannel: undefined },
    directory: { knownZone: () => undefined },
    keys: createKeys('test'),
    redis: {
      set: (async (key: string) => {
        if (claim) return claim(key)
        const isNew = !seen.has(key)
        seen.add(key)
        return isNew ? null : 'claimed'
      }) as never,
    },
    catalog: { hasProject: () => true, labelOf: (kind) => kind },
    metrics: { acknowledged: (...values) => void measured.push(values) },
    errors: {
      unhandled: (one) => void unhandled.push(one as LoggedPayload),
      shownToPerson: () => {},
      of: () => (error) => void errors.push(String(error)),
    },
    slack: {
      signature: { isWrong: true },
      respond: async (_, message) => say(message.text),
      messenger: {
        postEphemeral: async (_, message) => say(message.text),
        post: async (_, message) => ({ ...say(message.text), ts: '1', channelId: 'D1' }),
        openView: async (_, view) => {
          if (view.title.text === 'Form') handled.push('opened')
          else say(JSON.stringify(view.blocks))
          return { is: 'opened', viewId: 'V9' }
        },
        updateView: async (_, view) => {
          updates.push(JSON.stringify(view.blocks))
          return { is: 'sent' }
        },
      },
    },
  })
  const command = (words: string, more: Partial<Command> = {}): Command => {
    return { words, group: 'View', usage: '[word…]', summary: '', examples: [], need: 'read', run: did(words), ...more }
  }
  const handlers = {
    commands: [command('servers'), command('ip move', { form, need: 'ip.move' })],
    clicks: { press: did('press'), 'press-form': opensForm },
    submissions: {
      send: async () => {
        handled.push('send')
        if (afterMs > 0) await new Promise((resolve) => setTimeout(resolve, afterMs))
        return answer
      },
    },
    shortcuts: { use: did('use'), 'use-form': opensForm },
    options: {
      pick: async () => {
        handled.push('pick')
        if (afterMs > 0) await new Promise((resolve) => setTimeout(resolve, afterMs))
        return { options: [] }
      },
    },
    home: async (_: Origin, refused?: { text: string }) => void homes.push(refused?.text ?? 'shown'),
  }

  let receive: Bolt['processEvent'] = async () => {}
  const receiver: Receiver = {
    init: (bolt) => {
      receive = (event) => bolt.processEvent(event)
    },
    start: async () => {},
    stop: async () => {},
  }
  const token = { token: 'xoxb-1', botId: 'B1', botUserId: 'U1', tokenVerificationEnabled: false }
  const bolt = new Bolt({ ...token, receiver: guarded(receiver, app), logger: quiet, convoStore: false, deferInitialization: true })
  const { settle } = listen(bolt, app, handlers)
  bolt.error(async (error) => void errors.push(String(error)))
  await bolt.init()

  /** Delivers a payload as a receiver does. Returns its acknowledgements. */
  async function deliver(body: unknown): Promise<unknown[]> {
    const own: unknown[] = []
    const ack = async (content: unknown) => {
      own.push(content)
      acks.push(content)
    }
    await receive({ body: body as never, ack })
    return own
  }

  return { bolt, deliver, settle, handled, authorized, noted, origins, answers, homes, errors, acks, unhandled, updates, measured }
}

const refuse = async () => {
  throw new Refusal('guest', mrkdwn`${refusal}`)
}

describe.each(Object.entries(deliveries))('%s', (name, { body, at, where }) => {
  test('is authorized in the place where the person is, acknowledged once, and handled or answered', async () => {
    const { deliver, origins, handled, homes, answers, errors } = await setUp()
    const { command: _, ...place } = { userId: ada.id, ...where }
    const refusing = await setUp({ standing: 'guest' })

    const acks = await deliver(body)
    await refusing.deliver(body)

    const { userId: by, ...there } = place
    expect(refusing.noted).toEqual([expect.objectContaining({ by, ...there, text: at })])
    for (const who of origins) expect(who).toMatchObject(where)
    expect(acks).toHaveLength(1)
    expect(handled.length + homes.length + answers.length + (name.includes('unknown option') ? 1 : 0)).toBeGreaterThan(0)
    expect(errors).toEqual([])
  })

  test.each([
    ['is refused', refuse, refusal],
    ['fails', async () => Promise.reject(new Error('Redis is away')), 'Something went wrong.'],
  ])('reaches no handler if the authorization %s, and is answered with that', async (_, authorize, words) => {
    const { deliver, handled, answers, homes } = await setUp({ authorize })

    const acks = await deliver(body)

    expect(handled).toEqual([])
    expect([...answers, ...homes, JSON.stringify(acks)].join()).toContain(words)
    expect(acks).toHaveLength(1)
  })

  test('reaches no handler while the authorization is undecided, and is waited for at a stop', async () => {
    const undecided = Promise.withResolvers<void>()
    const { deliver, authorized, handled, settle } = await setUp({ authorize: () => undecided.promise })
    const delivering = deliver(body)
    await expect.poll(() => authorized.length).toBe(1)

    const settled = settle().then(() => 'settled')
    const first = await Promise.race([settled, new Promise((resolve) => setTimeout(resolve, 20, 'still running'))])
    expect([first, handled]).toEqual(['still running', []])
    undecided.reject(new Refusal('guest', mrkdwn`${refusal}`))
    await Promise.all([delivering, settled])

    expect(handled).toEqual([])
  })
})

test('a second delivery is acknowledged, and neither authorized nor handled again; one without an id counts as new', async () => {
  const once = ['servers', 'press', 'use', 'send']
  const { deliver, handled, homes, authorized, acks } = await setUp()
  const bodies = [typed('servers'), click('press'), shortcut('use', onMessage), submission(), home('home')]

  for (const body of bodies) for (const _ of [1, 2]) await deliver(body)
  expect([handled, homes, authorized.length, acks.length]).toEqual([once, ['shown'], 5, 10])
  expect(JSON.stringify(acks[7])).toContain('already sent')

  const without = { trigger_id: null, event_id: null, action_ts: null }
  const odd = [
    { ...typed('servers'), ...without },
    { ...click('press'), ...without, actions: [{ action_id: 'press' }] },
    { ...home('home'), ...without },
  ]
  for (const body of odd) for (const _ of [1, 2]) await deliver(body)
  expect([handled.slice(4), homes]).toEqual([
    ['servers', 'servers', 'press', 'press'],
    ['shown', 'shown', 'shown'],
  ])
})

describe('in time', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    onTestFinished(() => void vi.useRealTimers())
  })

  test('the acknowledgement waits at most 100 ms for the duplicate check, and the handler waits for it', async () => {
    const { deliver, acks, handled } = await setUp({ claim: () => new Promise((resolve) => setTimeout(resolve, 900, null)) })

    const delivering = deliver(typed('servers'))
    await vi.advanceTimersByTimeAsync(99)
    const before = acks.length
    await vi.advanceTimersByTimeAsync(1)
    expect([before, acks.length, handled]).toEqual([0, 1, []])
    await vi.advanceTimersByTimeAsync(800)
    await delivering

    expect(handled).toEqual(['servers'])
  })

  test('a form that is handled slowly shows an interim answer, and then the result', async () => {
    const refused: SubmissionAnswer = {
      is: 'refused',
      problems: { name: mrkdwn`Choose another name.`, ip: mrkdwn`No address.` },
      again: noticeView,
    }
    const { deliver, acks, updates } = await setUp({ answer: refused, afterMs: 5_000 })

    const delivering = deliver(submission())
    await vi.advanceTimersByTimeAsync(2_000)
    expect(JSON.stringify(acks)).toContain('Still working. The result will appear here.')
    await vi.advanceTimersByTimeAsync(3_000)
    await delivering

    expect([acks.length, updates]).toEqual([1, [expect.stringContaining('Choose another name. No address.')]])
  })

  test('a picker that loads slowly says so, and drops what comes later', async () => {
    const { deliver, acks } = await setUp({ afterMs: 5_000 })

    const delivering = deliver(suggestion('pick'))
    await vi.advanceTimersByTimeAsync(5_000)
    await delivering

    expect(JSON.stringify(acks)).toMatch(/^\[\{"options":\[\{.*The account API is slow/)
  })
})

test.each([
  ['closes in a channel, where the person sees what follows', { origin, responseUrl }, 'Request sent', undefined],
  ['says what follows to a person on the Home tab', { origin }, 'Request sent', 'Request sent'],
  ['closes there, too, if the Home tab shows what follows', { origin }, undefined, undefined],
])('a form that was accepted %s', async (_, opened, title, shown) => {
  const { deliver } = await setUp({ answer: { is: 'accepted', words: mrkdwn`Posted.`, title } })

  const [ack] = await deliver(submission({ private_metadata: writeMetadata(opened) }))

  expect((ack as { view?: { title: { text: string } } } | undefined)?.view?.title.text).toBe(shown)
})

test.each([
  [
    'at its fields',
    mrkdwn`Choose another name. Run the doctor command.`,
    /"errors":\{"name":"Choose another name\. Run \/ops doctor\.","ip":"No address\."\}/,
  ],
  [
    'on top, if one mentions somebody',
    mrkdwn`Taken by ${mention('U0BEN00001')}.`,
    /"response_action":"update".*Taken by <@U0BEN00001>\. No address\./,
  ],
])('a form with several problems shows them %s', async (_, problem, shown) => {
  const { deliver } = await setUp({ answer: { is: 'refused', problems: { name: problem, ip: mrkdwn`No address.` }, again: noticeView } })

  expect(JSON.stringify(await deliver(submission()))).toMatch(shown)
})

test.each([
  ['a command', typed(`servers ${'a'.repeat(36)}`)],
  ['a form', submission({ state: { values: { reason: { r: { value: `xoxb-${'1'.repeat(12)}` } } } } })],
  ['a picker', suggestion('pick', 'f'.repeat(36))],
])('%s with a token is not handled, and the person is told to revoke it', async (_, body) => {
  const { deliver, handled, answers } = await setUp()

  const acks = await deliver(body)

  expect(handled).toEqual([])
  expect([...answers, JSON.stringify(acks)].join()).toMatch(/looks like a token|Nothing was done, because what you typed/)
})

test('the Messages tab of the app is no Home tab', async () => {
  const { deliver, homes, authorized } = await setUp()

  expect([await deliver(home('messages')), homes, authorized]).toEqual([[undefined], [], []])
})

test('a payload whose listener fails before the acknowledgement is still acknowledged', async () => {
  const { bolt, deliver, unhandled } = await setUp()
  bolt.processEvent = () => Promise.reject(new TypeError('of Bolt'))

  const delivering = deliver(submission())

  await expect(delivering).rejects.toThrow('of Bolt')
  expect(unhandled).toEqual([{ kind: 'view_submission', why: 'listener-failed' }])
})

test('the time to acknowledge is measured by kind', async () => {
  const { deliver, measured } = await setUp()

  await deliver(typed('servers'))
  await deliver({ type: 'view_closed', user: ada })

  expect(measured).toEqual([
    ['command', expect.any(Number)],
    ['other', expect.any(Number)],
  ])
})
