import type { App } from '@slack/bolt'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import type { Origin } from '../../../src/domain/approval.ts'
import { modal } from '../../../src/slack/blocks.ts'
import { Refusal } from '../../../src/slack/errors.ts'
import type {
  Click,
  FormHandler,
  Handler,
  InteractionHandlers,
  OptionsQuery,
  Submission,
  SubmissionAnswer,
} from '../../../src/slack/interactions.ts'
import { type ListenOptions, listen } from '../../../src/slack/listen.ts'
import { type UnhandledPayload, writeMetadata } from '../../../src/slack/payloads.ts'
import { mrkdwn } from '../../../src/slack/text.ts'
import type { Message } from '../../../src/slack/web-api.ts'

const ada = { id: 'U0ADA00001', team_id: 'T0NIMBUS01' }
const origin: Origin = { teamId: 'T0NIMBUS01', channelId: 'C0OPS00001', userId: ada.id, command: '/infra' }
const responseUrl = 'https://hooks.slack.com/actions/T0/1/x'
/** The metadata of a form that another person opened. The person who uses the form must be the one who is authorized. */
const metadata = writeMetadata({ origin: { ...origin, userId: 'U0BEN00001' }, responseUrl })
const refusal = "Guests can't use Lockkeeper."

type Listener = (args: { body: unknown; ack: (answer?: unknown) => Promise<void> }) => Promise<void>
type Registration = { method: string; constraint: unknown; listener: Listener }

/** A Bolt app that records every registration, also through methods that Lockkeeper does not use today. */
function fakeApp() {
  const registered: Registration[] = []
  const app = new Proxy(
    {},
    {
      get: (_, method: string) => (constraint: unknown, listener: Listener) => void registered.push({ method, constraint, listener }),
    },
  )
  return { app: app as App, registered }
}

/** One payload of Slack's for each way in which an interaction can arrive. */
const deliveries: Record<string, Record<string, { body: object; at: string; origin: Partial<Origin> }>> = {
  command: {
    'a command': {
      body: {
        command: '/infra',
        text: 'ip move eip_1GijF7NsZe3bN web-2',
        user_id: ada.id,
        channel_id: 'C0OPS00001',
        team_id: 'T0NIMBUS01',
        trigger_id: 't1',
      },
      at: 'command ip move',
      origin,
    },
    'a command with a form': {
      body: { command: '/infra', text: 'form', user_id: ada.id, channel_id: 'C0OPS00001', team_id: 'T0NIMBUS01', trigger_id: 't2' },
      at: 'command form',
      origin,
    },
  },
  action: {
    'a click on a message': {
      body: click({ action_id: 'press', value: 'v' }, { channel: { id: 'C0OPS00001' }, container: { message_ts: '1.2' } }),
      at: 'click press',
      origin: { ...origin, command: '/ops' },
    },
    'a click that opens a form': {
      body: click({ action_id: 'press-form' }, { channel: { id: 'C0OPS00001' }, container: { message_ts: '1.2' } }),
      at: 'click press-form',
      origin: { ...origin, command: '/ops' },
    },
    'a click on the Home tab': {
      body: click({ action_id: 'press', value: 'v' }, { view: { id: 'V1', type: 'home' } }),
      at: 'click press',
      origin: { channelId: '', userId: ada.id },
    },
    'a click in a modal': {
      body: click(
        { action_id: 'press', selected_option: { text: { text: 'Web 2' }, value: 'sv_22mUQSvUfeqdv' } },
        { view: { id: 'V1', private_metadata: metadata } },
      ),
      at: 'click press',
      origin,
    },
    'a click with an unknown id': {
      body: click({ action_id: 'long-gone' }, { channel: { id: 'C0OPS00001' } }),
      at: 'click long-gone',
      origin: { ...origin, command: '/ops' },
    },
  },
  shortcut: {
    'a global shortcut': {
      body: shortcut('use', { type: 'shortcut' }),
      at: 'shortcut use',
      origin: { teamId: 'T0NIMBUS01', channelId: '', userId: ada.id },
    },
    'a global shortcut that opens a form': {
      body: shortcut('use-form', { type: 'shortcut' }),
      at: 'shortcut use-form',
      origin: { channelId: '' },
    },
    'a message shortcut': {
      body: shortcut('use', { type: 'message_action', channel: { id: 'C0OPS00001' }, message: { ts: '1795010400.000100', text: 'web-1' } }),
      at: 'shortcut use',
      origin: { ...origin, command: '/ops' },
    },
    'a shortcut with an unknown id': {
      body: shortcut('long-gone', { type: 'message_action', channel: { id: 'C0OPS00001' }, response_url: responseUrl }),
      at: 'shortcut long-gone',
      origin: { ...origin, command: '/ops' },
    },
  },
  view: {
    'a submission': {
      body: { type: 'view_submission', user: ada, view: { id: 'V1', hash: 'h', callback_id: 'send', private_metadata: metadata } },
      at: 'submission send',
      origin,
    },
  },
  options: {
    'an option load': {
      body: { type: 'block_suggestion', action_id: 'pick', value: 'we', user: ada, view: { id: 'V1', private_metadata: metadata } },
      at: 'options pick',
      origin,
    },
  },
  event: {
    'an opened Home tab': {
      body: { team_id: 'T0NIMBUS01', event_id: 'Ev1', event: { type: 'app_home_opened', user: ada.id, tab: 'home' } },
      at: 'home',
      origin: { teamId: 'T0NIMBUS01', channelId: '', userId: ada.id },
    },
  },
}

function click(action: object, more: object) {
  return {
    type: 'block_actions',
    user: ada,
    team: { id: 'T0NIMBUS01' },
    trigger_id: 't1',
    actions: [{ block_id: 'b', action_ts: '1', ...action }],
    ...more,
  }
}

function shortcut(callbackId: string, more: object) {
  return { user: ada, team: { id: 'T0NIMBUS01' }, callback_id: callbackId, trigger_id: 't1', action_ts: '1.1', ...more }
}

const allDeliveries = Object.entries(deliveries).flatMap(([method, each]) =>
  Object.entries(each).map(([name, one]) => ({ method, name, ...one })),
)

interface Setup {
  authorize?: (origin: Origin, at: string) => Promise<void>
  isFirstDelivery?: (key: string) => Promise<boolean>
  /** What the form *send* is answered with. */
  accepted?: SubmissionAnswer
  /** Registers listeners in addition to Lockkeeper's. */
  alsoListen?: (app: App, options: ListenOptions) => void
}

const sent: SubmissionAnswer = { is: 'accepted', words: mrkdwn`Sent.` }

function setUp({ authorize = async () => {}, isFirstDelivery = async () => true, accepted = sent, alsoListen = () => {} }: Setup = {}) {
  const { app, registered } = fakeApp()
  const handled: string[] = []
  const authorized: { origin: Origin; at: string }[] = []
  const answers: string[] = []
  const homes: [string, string | undefined][] = []
  const acked: unknown[] = []
  const unhandled: UnhandledPayload[] = []
  const form = (name: string): FormHandler<{ triggerId: string }> => ({
    form: () => modal({ title: name, blocks: [] }),
    allow: async () => void handled.push(`allow ${name}`),
  })
  const handlers: InteractionHandlers = {
    commandNamed: (words) => ({ name: words.slice(0, 2).join(' '), takesReason: words[0] === 'change' }),
    command: (words) => (words[0] === 'form' ? form('command form') : async () => void handled.push(`command ${words.join(' ')}`)),
    clicks: { press: async () => void handled.push('click press'), 'press-form': form('click form') },
    submissions: {
      send: async () => {
        handled.push('submission send')
        return accepted
      },
    },
    shortcuts: { use: async () => void handled.push('shortcut use'), 'use-form': form('shortcut form') },
    options: {
      pick: async () => {
        handled.push('options pick')
        return { options: [] }
      },
    },
    home: async ({ userId }, refused) => void homes.push([userId, refused?.text]),
  }
  const say = async (message: Message) => {
    answers.push(message.text)
    return { is: 'sent' as const }
  }
  const options: ListenOptions = {
    handlers,
    authorize: async (who, at) => {
      authorized.push({ origin: who, at })
      await authorize(who, at)
    },
    messenger: {
      post: async (_, message) => ({ ...(await say(message)), ts: '1', channelId: 'D1' }),
      postEphemeral: (_, message) => say(message),
      openView: async (_, view) => {
        answers.push(JSON.stringify(view.blocks))
        return { is: 'opened', viewId: 'V9' }
      },
      update: async () => ({ is: 'sent' }),
      updateView: async () => ({ is: 'sent' }),
      publishHome: async () => ({ is: 'sent' }),
      find: async () => ({ is: 'absent' }),
    },
    // Opens the form before it checks the rights, as `createFormOpener` does.
    openForm: async (_, view, allow) => {
      handled.push(`opened ${view.title.text}`)
      await allow()
    },
    respond: (_, message) => say(message),
    isFirstDelivery,
    command: '/ops',
    onUnhandled: (one) => void unhandled.push(one),
    onError: () => {},
  }
  const listening = listen(app, options)
  alsoListen(app, options)

  /** Delivers a payload to every listener of this kind, as Bolt does to those that match. */
  async function deliver(method: string, body: object) {
    const acks: unknown[] = []
    for (const { listener } of registered.filter((one) => one.method === method))
      await listener({
        body,
        ack: async (answer) => {
          acked.push(answer)
          acks.push(answer)
        },
      })
    await listening.settle()
    return acks
  }

  return { registered, handled, authorized, answers, homes, acked, unhandled, deliver, settle: listening.settle }
}

const refuse = async () => {
  throw new Refusal(mrkdwn`${refusal}`)
}

/** Returns the deliveries that ran a handler or showed something although every authorization was refused. */
async function unauthorizedDeliveries(alsoListen?: Setup['alsoListen']): Promise<string[]> {
  const { deliver, handled, homes } = setUp({ authorize: refuse, ...(alsoListen ? { alsoListen } : {}) })
  const open: string[] = []
  for (const { method, name, body } of allDeliveries) {
    await deliver(method, body)
    if (handled.length > 0 || homes.some(([, refused]) => refused === undefined)) open.push(name)
    handled.length = 0
    homes.length = 0
  }
  return open
}

describe('the listeners', () => {
  it('are one for each kind of payload, so that no payload stays unanswered or avoids the authorization', () => {
    const { registered } = setUp()

    expect(registered.map(({ method, constraint }) => [method, constraint])).toEqual([
      ['command', /^\//],
      ['action', /^/],
      ['shortcut', /^/],
      ['view', { type: 'view_submission', callback_id: /^/ }],
      ['options', /^/],
      ['event', 'app_home_opened'],
    ])
  })

  it('each have a delivery in this test', () => {
    const { registered } = setUp()

    expect(new Set(registered.map(({ method }) => method))).toEqual(new Set(Object.keys(deliveries)))
  })
})

describe('a refused authorization', () => {
  it('stops every delivery before its handler', async () => {
    expect(await unauthorizedDeliveries()).toEqual([])
  })

  it.each<[string, Required<Setup>['alsoListen'], string[]]>([
    [
      'to commands',
      (app, { handlers }) => app.command('/infra', ({ body }) => (handlers.command([]) as Handler<object>)(body as never)),
      ['a command', 'a command with a form'],
    ],
    [
      'to clicks',
      (app, { handlers }) => app.action('press', async () => (handlers.clicks.press as Handler<Click>)({} as Click)),
      Object.keys(deliveries.action ?? {}),
    ],
    [
      'to forms',
      (app, { handlers }) => app.view('send', async () => void (await handlers.submissions.send?.({} as Submission))),
      ['a submission'],
    ],
    [
      'to option loads',
      (app, { handlers }) => app.options('pick', async () => void (await handlers.options.pick?.({} as OptionsQuery))),
      ['an option load'],
    ],
    ['to events', (app, { handlers }) => app.event('app_home_opened', () => handlers.home(origin, undefined)), ['an opened Home tab']],
  ])('does not stop an additional listener %s, which this test then reports', async (_, alsoListen, found) => {
    expect(await unauthorizedDeliveries(alsoListen)).toEqual(found)
  })
})

describe.each(allDeliveries)('$name', ({ method, body, at, origin: expected }) => {
  it('runs its handler after an authorization of the person, in the place where they are', async () => {
    const { deliver, authorized, handled, homes, answers } = setUp()

    await deliver(method, body)

    expect(authorized).toEqual([{ origin: expect.objectContaining(expected), at }])
    expect(handled.length + homes.length + answers.length).toBeGreaterThan(0)
  })

  it('reaches no handler if the authorization is refused, and is acknowledged and answered with the refusal', async () => {
    const { deliver, handled, answers, homes } = setUp({ authorize: refuse })

    const acks = await deliver(method, body)

    expect(handled.filter((what) => !what.startsWith('opened'))).toEqual([])
    expect([...answers, ...homes.map(([, words]) => words), JSON.stringify(acks)].join()).toContain(refusal)
    if (method !== 'event') expect(acks).toHaveLength(1)
  })

  it('reaches no handler if the authorization fails, and is answered with a sentence', async () => {
    const { deliver, handled, answers, homes } = setUp({ authorize: async () => Promise.reject(new Error('Redis is away')) })

    const acks = await deliver(method, body)

    expect(handled.filter((what) => !what.startsWith('opened'))).toEqual([])
    expect([...answers, ...homes.map(([, words]) => words), JSON.stringify(acks)].join()).toContain('Something went wrong.')
  })

  it('reaches no handler before the authorization ends, and is acknowledged anyway', async () => {
    let decide = (_: Error) => {}
    const undecided = new Promise<void>((_, reject) => {
      decide = reject
    })
    const { deliver, handled, authorized } = setUp({ authorize: () => undecided })

    const delivering = deliver(method, body)
    await expect.poll(() => authorized.length).toBe(1)
    const before = handled.filter((what) => !what.startsWith('opened'))
    decide(new Refusal(mrkdwn`${refusal}`))
    const acks = await delivering

    expect(before).toEqual([])
    expect(handled.filter((what) => !what.startsWith('opened'))).toEqual([])
    if (method !== 'event') expect(acks).toHaveLength(1)
  })
})

describe.each(allDeliveries.filter(({ method }) => method !== 'options'))('$name', ({ method, body }) => {
  it('is awaited by settle', async () => {
    const { promise: decided, resolve: authorize } = Promise.withResolvers<void>()
    const { deliver, authorized, handled, homes, answers, settle } = setUp({ authorize: () => decided })
    void deliver(method, body)
    await expect.poll(() => authorized.length).toBe(1)

    const settled = settle().then(() => 'settled')
    const first = await Promise.race([settled, new Promise((resolve) => setTimeout(resolve, 20, 'not settled'))])
    authorize()
    await settled

    expect(first).toBe('not settled')
    expect(handled.length + homes.length + answers.length).toBeGreaterThan(0)
  })
})

describe('a form', () => {
  it('does not open if the authorization is refused at once', async () => {
    const { deliver, handled } = setUp({ authorize: refuse })

    for (const { method, body } of allDeliveries) await deliver(method, body)

    expect(handled).toEqual([])
  })

  it('opens before a slow authorization ends, because its trigger expires after 3 s, and checks the rights after it', async () => {
    let allow = () => {}
    const undecided = new Promise<void>((resolve) => {
      allow = resolve
    })
    const { deliver, handled } = setUp({ authorize: () => undecided })

    const delivering = deliver('command', deliveries.command?.['a command with a form']?.body ?? {})
    await expect.poll(() => handled).toEqual(['opened command form'])
    allow()
    await delivering

    expect(handled).toEqual(['opened command form', 'allow command form'])
  })
})

describe('a duplicate', () => {
  it('is acknowledged, and neither authorized nor handled again', async () => {
    const { app, registered } = fakeApp()
    const done: string[] = []
    const authorized: string[] = []
    listen(app, {
      handlers: {
        commandNamed: () => ({ name: 'any', takesReason: false }),
        command: () => async () => void done.push('ran'),
        clicks: {},
        submissions: {},
        shortcuts: {},
        options: {},
        home: async () => {},
      },
      authorize: async () => void authorized.push('authorized'),
      messenger: {} as never,
      openForm: async () => {},
      respond: async () => ({ is: 'sent' }),
      isFirstDelivery: async () => done.length === 0,
      command: '/ops',
      onError: () => {},
    })
    const acks: unknown[] = []
    const body = deliveries.command?.['a command']?.body

    for (const _ of [1, 2])
      await registered.find(({ method }) => method === 'command')?.listener({ body, ack: async () => void acks.push('ack') })

    expect([acks, authorized, done]).toEqual([['ack', 'ack'], ['authorized'], ['ran']])
  })
})

describe('a form that was accepted', () => {
  const words = mrkdwn`Request posted in <#C0OPS00001>.`

  it.each([
    ['closes in a channel, where the person sees what follows', { origin, responseUrl }, 'Request sent', undefined],
    ['says what follows to a person on the Home tab', { origin }, 'Request sent', 'Request sent'],
    ['closes there, too, if the Home tab shows what follows', { origin }, undefined, undefined],
  ])('%s', async (_, opened, title, shown) => {
    const { deliver } = setUp({ accepted: { is: 'accepted', words, ...(title ? { title } : {}) } })

    const [answer] = await deliver('view', {
      type: 'view_submission',
      user: ada,
      view: { id: 'V1', hash: 'h', callback_id: 'send', private_metadata: writeMetadata(opened) },
    })

    expect((answer as { view?: { title: { text: string } } } | undefined)?.view?.title.text).toBe(shown)
  })
})

describe('a submitted form that cannot be handled', () => {
  const submission = { type: 'view_submission', user: ada }
  const blocks = [{ type: 'input', block_id: 'reason' }]

  it.each<[string, object, UnhandledPayload]>([
    [
      'its id is unknown',
      { callback_id: 'long-gone', private_metadata: metadata },
      { kind: 'view_submission', why: 'no-listener', members: ['view.callback_id'] },
    ],
    [
      'its id is the name of a member that every object has',
      { callback_id: 'constructor', private_metadata: metadata },
      { kind: 'view_submission', why: 'no-listener', members: ['view.callback_id'] },
    ],
    [
      'its metadata is null',
      { callback_id: 'send', private_metadata: null },
      { kind: 'view_submission', why: 'unreadable', members: ['view.private_metadata'] },
    ],
  ])('stays open as it was filled in, because %s', async (_, view, reported) => {
    const { deliver, handled, authorized, unhandled } = setUp()

    const acks = await deliver('view', { ...submission, view: { id: 'V1', blocks, ...view } })

    expect(acks).toEqual([{ response_action: 'errors', errors: { reason: expect.stringMatching(/^This form is out of date/) } }])
    expect([handled, authorized, unhandled]).toEqual([[], [], [reported]])
  })
})

describe('an id that is the name of a member that every object has', () => {
  it.each(['constructor', '__proto__', 'toString'])('counts as unknown: %s', async (id) => {
    const { deliver, answers, handled } = setUp()

    await deliver('action', click({ action_id: id }, { channel: { id: 'C0OPS00001' } }))
    const [choices] = await deliver('options', { type: 'block_suggestion', action_id: id, user: ada })

    expect([answers, handled]).toEqual([[expect.stringMatching(/This button/)], []])
    expect(JSON.stringify(choices)).toContain('This form is out of date')
  })
})

describe('a delivery without the id that identifies duplicates', () => {
  it.each<[string, string, object, object]>([
    ['a command', 'command', deliveries.command?.['a command']?.body ?? {}, { trigger_id: null }],
    [
      'a click',
      'action',
      click({ action_id: 'press', value: 'v' }, { channel: { id: 'C0OPS00001' } }),
      { trigger_id: null, actions: [{ action_id: 'press', block_id: 'b', action_ts: null }] },
    ],
    ['an opened Home tab', 'event', deliveries.event?.['an opened Home tab']?.body ?? {}, { event_id: null }],
  ])('counts as new: %s', async (_, method, body, without) => {
    const keys: string[] = []
    const { deliver } = setUp({ isFirstDelivery: async (key) => keys.push(key) > 0 })

    for (const one of [body, body, { ...body, ...without }, { ...body, ...without }]) await deliver(method, one)

    expect(keys[1]).toBe(keys[0])
    expect(new Set(keys).size).toBe(3)
  })
})

describe('the acknowledgement', () => {
  it.each([
    ['goes out after exactly 100 ms if the duplicate check hangs', undefined, 100],
    ['goes out with the result of the duplicate check if that comes sooner', 40, 40],
  ])('%s', async (_, checkedAfterMs, ackedAfterMs) => {
    vi.useFakeTimers()
    onTestFinished(() => void vi.useRealTimers())
    const { deliver, acked } = setUp({
      isFirstDelivery: () =>
        new Promise((resolve) => {
          if (checkedAfterMs !== undefined) setTimeout(resolve, checkedAfterMs, true)
        }),
    })

    void deliver('command', deliveries.command?.['a command']?.body ?? {})
    await vi.advanceTimersByTimeAsync(ackedAfterMs - 1)
    const before = acked.length
    await vi.advanceTimersByTimeAsync(1)

    expect([before, acked.length]).toEqual([0, 1])
  })

  it('does not wait for a slow duplicate check, but the handler does', async () => {
    vi.useFakeTimers()
    onTestFinished(() => void vi.useRealTimers())
    const { deliver, acked, handled } = setUp({ isFirstDelivery: () => new Promise((resolve) => setTimeout(resolve, 900, true)) })

    const delivering = deliver('command', deliveries.command?.['a command']?.body ?? {})
    await vi.advanceTimersByTimeAsync(899)
    const before = [acked.length, handled.length]
    await vi.advanceTimersByTimeAsync(1)
    await delivering

    expect([before, handled]).toEqual([[1, 0], ['command ip move eip_1GijF7NsZe3bN web-2']])
  })
})

describe('the Home tab', () => {
  it('is shown to an authorized person, and the refusal to any other', async () => {
    const open = setUp()
    const closed = setUp({ authorize: refuse })
    const body = deliveries.event?.['an opened Home tab']?.body ?? {}

    await open.deliver('event', body)
    await closed.deliver('event', body)

    expect([open.homes, closed.homes]).toEqual([[[ada.id, undefined]], [[ada.id, refusal]]])
  })

  it('is not shown when the Messages tab is opened', async () => {
    const { deliver, homes, authorized } = setUp()

    await deliver('event', { team_id: 'T0NIMBUS01', event_id: 'Ev2', event: { type: 'app_home_opened', user: ada.id, tab: 'messages' } })

    expect([homes, authorized]).toEqual([[], []])
  })
})
