import type { App } from '@slack/bolt'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import type { Origin } from '../../../src/domain/origin.ts'
import { modal } from '../../../src/slack/blocks/modal.ts'
import type { Click, FormHandler, Handler, InteractionHandlers, OptionsQuery, Submission } from '../../../src/slack/commands/handlers.ts'
import { Refusal } from '../../../src/slack/errors.ts'
import { type ListenOptions, listen } from '../../../src/slack/listen/listen.ts'
import { writeMetadata } from '../../../src/slack/receive/payloads.ts'
import type { UnhandledPayload } from '../../../src/slack/receive/read-payload.ts'
import { mrkdwn } from '../../../src/slack/text/text.ts'
import type { Message } from '../../../src/slack/web-api/messenger.ts'

const ada = { id: 'U0ADA00001', team_id: 'T0NIMBUS01' }
const origin: Origin = { teamId: 'T0NIMBUS01', channelId: 'C0OPS00001', userId: ada.id, command: '/infra' }
const responseUrl = 'https://hooks.slack.com/actions/T0/1/x'
/** Of a form that somebody else has opened: who acts in it is who counts. */
const metadata = writeMetadata({ origin: { ...origin, userId: 'U0BEN00001' }, responseUrl })
const refusal = 'Guests may not use this bot.'

type Listener = (args: { body: unknown; ack: (answer?: unknown) => Promise<void> }) => Promise<void>
type Registration = { method: string; constraint: unknown; listener: Listener }

/** Bolt's app as far as one can register with it. Whatever way there is to register, also one that is not used today, is written down. */
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

/** What Slack sends, one payload for each way in which something can come. */
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
      origin: { ...origin, command: '' },
    },
    'a click that opens a form': {
      body: click({ action_id: 'press-form' }, { channel: { id: 'C0OPS00001' }, container: { message_ts: '1.2' } }),
      at: 'click press-form',
      origin: { ...origin, command: '' },
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
    'a click that nobody knows': {
      body: click({ action_id: 'long-gone' }, { channel: { id: 'C0OPS00001' } }),
      at: 'click long-gone',
      origin: { ...origin, command: '' },
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
    'a look at the Home tab': {
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

const ways = Object.entries(deliveries).flatMap(([method, each]) => Object.entries(each).map(([name, one]) => ({ method, name, ...one })))

interface Around {
  authorize?: (origin: Origin, at: string) => Promise<void>
  isFirstDelivery?: (key: string) => Promise<boolean>
  /** Listens to more than the bot does. */
  alsoListen?: (app: App, options: ListenOptions) => void
}

function setUp({ authorize = async () => {}, isFirstDelivery = async () => true, alsoListen = () => {} }: Around = {}) {
  const { app, registered } = fakeApp()
  const handled: string[] = []
  const gated: { origin: Origin; at: string }[] = []
  const answers: string[] = []
  const homes: [string, string | undefined][] = []
  const acked: unknown[] = []
  const unhandled: UnhandledPayload[] = []
  const form = (name: string): FormHandler<{ triggerId: string }> => ({
    form: () => modal({ title: name, blocks: [] }),
    allow: async () => void handled.push(`allow ${name}`),
  })
  const interactions: InteractionHandlers = {
    command: {
      formFor: ({ text }) => (text === 'form' ? form('command form') : undefined),
      run: async ({ text }) => void handled.push(`command ${text}`),
    },
    clicks: { press: async () => void handled.push('click press'), 'press-form': form('click form') },
    submissions: {
      send: async () => {
        handled.push('submission send')
        return { is: 'accepted', words: mrkdwn`Sent.` }
      },
    },
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
    interactions,
    authorize: async (who, at) => {
      gated.push({ origin: who, at })
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
    // As the opener does it: the form first, and in its place the refusal.
    openForm: async (_, view, allow) => {
      handled.push(`opened ${view.title.text}`)
      await allow()
    },
    respond: (_, message) => say(message),
    isFirstDelivery,
    onUnhandled: (one) => void unhandled.push(one),
    onError: () => {},
  }
  const listening = listen(app, options)
  alsoListen(app, options)

  /** Delivers to every listener of this kind, as Bolt does to those that fit. */
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

  return { registered, handled, gated, answers, homes, acked, unhandled, deliver, settle: listening.settle }
}

const refuse = async () => {
  throw new Refusal(mrkdwn`${refusal}`)
}

/** The ways by which something is done, or shown, although nobody may do anything. */
async function waysRoundTheGate(alsoListen?: Around['alsoListen']): Promise<string[]> {
  const { deliver, handled, homes } = setUp({ authorize: refuse, ...(alsoListen ? { alsoListen } : {}) })
  const open: string[] = []
  for (const { method, name, body } of ways) {
    await deliver(method, body)
    if (handled.length > 0 || homes.some(([, refused]) => refused === undefined)) open.push(name)
    handled.length = 0
    homes.length = 0
  }
  return open
}

describe('what the bot listens to', () => {
  it('is one listener for each kind of payload, so that none goes unanswered or round the gate', () => {
    const { registered } = setUp()

    expect(registered.map(({ method, constraint }) => [method, constraint])).toEqual([
      ['command', /^\//],
      ['action', /^/],
      ['view', { type: 'view_submission', callback_id: /^/ }],
      ['options', /^/],
      ['event', 'app_home_opened'],
    ])
  })

  it('is all tried here: a listener of another kind needs a delivery of its own in this test', () => {
    const { registered } = setUp()

    expect(new Set(registered.map(({ method }) => method))).toEqual(new Set(Object.keys(deliveries)))
  })
})

describe('the gate', () => {
  it('has no way round it', async () => {
    expect(await waysRoundTheGate()).toEqual([])
  })

  it.each<[string, Required<Around>['alsoListen'], string[]]>([
    [
      'to commands',
      (app, { interactions }) => app.command('/infra', ({ body }) => interactions.command.run(body as never)),
      ['a command', 'a command with a form'],
    ],
    [
      'to clicks',
      (app, { interactions }) => app.action('press', async () => (interactions.clicks.press as Handler<Click>)({} as Click)),
      Object.keys(deliveries.action ?? {}),
    ],
    [
      'to forms',
      (app, { interactions }) => app.view('send', async () => void (await interactions.submissions.send?.({} as Submission))),
      ['a submission'],
    ],
    [
      'to option loads',
      (app, { interactions }) => app.options('pick', async () => void (await interactions.options.pick?.({} as OptionsQuery))),
      ['an option load'],
    ],
    [
      'to events',
      (app, { interactions }) => app.event('app_home_opened', () => interactions.home(origin, undefined)),
      ['a look at the Home tab'],
    ],
  ])('is missed by this test where somebody listens %s beside it', async (_, alsoListen, found) => {
    expect(await waysRoundTheGate(alsoListen)).toEqual(found)
  })
})

describe.each(ways)('$name', ({ method, body, at, origin: expected }) => {
  it('is let in once it is authorized, with who it is and where', async () => {
    const { deliver, gated, handled, homes, answers } = setUp()

    await deliver(method, body)

    expect(gated).toEqual([{ origin: expect.objectContaining(expected), at }])
    expect(handled.length + homes.length + answers.length).toBeGreaterThan(0)
  })

  it('reaches no handler where it is refused, and is acknowledged and answered in words', async () => {
    const { deliver, handled, answers, homes } = setUp({ authorize: refuse })

    const acks = await deliver(method, body)

    expect(handled.filter((what) => !what.startsWith('opened'))).toEqual([])
    expect([...answers, ...homes.map(([, words]) => words), JSON.stringify(acks)].join()).toContain(refusal)
    if (method !== 'event') expect(acks).toHaveLength(1)
  })

  it('reaches no handler where it cannot be found out whether it may, and is answered in words', async () => {
    const { deliver, handled, answers, homes } = setUp({ authorize: async () => Promise.reject(new Error('Redis is away')) })

    const acks = await deliver(method, body)

    expect(handled.filter((what) => !what.startsWith('opened'))).toEqual([])
    expect([...answers, ...homes.map(([, words]) => words), JSON.stringify(acks)].join()).toContain('Something went wrong on my side')
  })

  it('reaches no handler as long as it is not known whether it may, and is acknowledged all the same', async () => {
    let decide = (_: Error) => {}
    const undecided = new Promise<void>((_, reject) => {
      decide = reject
    })
    const { deliver, handled, gated } = setUp({ authorize: () => undecided })

    const delivering = deliver(method, body)
    await expect.poll(() => gated.length).toBe(1)
    const before = handled.filter((what) => !what.startsWith('opened'))
    decide(new Refusal(mrkdwn`${refusal}`))
    const acks = await delivering

    expect(before).toEqual([])
    expect(handled.filter((what) => !what.startsWith('opened'))).toEqual([])
    if (method !== 'event') expect(acks).toHaveLength(1)
  })
})

describe.each(ways.filter(({ method }) => method !== 'options'))('$name', ({ method, body }) => {
  it('is waited for at the end', async () => {
    const { promise: authorized, resolve: authorize } = Promise.withResolvers<void>()
    const { deliver, gated, handled, homes, answers, settle } = setUp({ authorize: () => authorized })
    void deliver(method, body)
    await expect.poll(() => gated.length).toBe(1)

    const settled = settle().then(() => 'settled')
    const first = await Promise.race([settled, new Promise((resolve) => setTimeout(resolve, 20, 'still at it'))])
    authorize()
    await settled

    expect(first).toBe('still at it')
    expect(handled.length + homes.length + answers.length).toBeGreaterThan(0)
  })
})

describe('a form', () => {
  it('that is refused at once is not even opened', async () => {
    const { deliver, handled } = setUp({ authorize: refuse })

    for (const { method, body } of ways) await deliver(method, body)

    expect(handled).toEqual([])
  })

  it('opens before it is known whether it may, because its trigger lives 3 s, and is asked for all the same', async () => {
    let allow = () => {}
    const undecided = new Promise<void>((resolve) => {
      allow = resolve
    })
    const { deliver, handled } = setUp({ authorize: () => undecided })

    const delivering = deliver('command', deliveries.command?.['a command with a form']?.body ?? {})
    await expect.poll(() => handled, { timeout: 3_000 }).toEqual(['opened command form'])
    allow()
    await delivering

    expect(handled).toEqual(['opened command form', 'allow command form'])
  })
})

describe('what comes twice', () => {
  it('is acknowledged and done once, and is not asked about again', async () => {
    const { app, registered } = fakeApp()
    const done: string[] = []
    const gated: string[] = []
    listen(app, {
      interactions: {
        command: { formFor: () => undefined, run: async () => void done.push('ran') },
        clicks: {},
        submissions: {},
        options: {},
        home: async () => {},
      },
      authorize: async () => void gated.push('asked'),
      messenger: {} as never,
      openForm: async () => {},
      respond: async () => ({ is: 'sent' }),
      isFirstDelivery: async () => done.length === 0,
      onError: () => {},
    })
    const acks: unknown[] = []
    const body = deliveries.command?.['a command']?.body

    for (const _ of [1, 2])
      await registered.find(({ method }) => method === 'command')?.listener({ body, ack: async () => void acks.push('ack') })

    expect([acks, gated, done]).toEqual([['ack', 'ack'], ['asked'], ['ran']])
  })
})

describe('a form that cannot be taken', () => {
  const submission = { type: 'view_submission', user: ada }
  const blocks = [{ type: 'input', block_id: 'reason' }]

  it.each<[string, object, UnhandledPayload]>([
    [
      'its id is not known',
      { callback_id: 'long-gone', private_metadata: metadata },
      { kind: 'view_submission', why: 'no-listener', members: ['view.callback_id'] },
    ],
    [
      'its id is the name of what every object has',
      { callback_id: 'constructor', private_metadata: metadata },
      { kind: 'view_submission', why: 'no-listener', members: ['view.callback_id'] },
    ],
    [
      'what it carries along is null',
      { callback_id: 'send', private_metadata: null },
      { kind: 'view_submission', why: 'unreadable', members: ['view.private_metadata'] },
    ],
  ])('stays as it was filled in, because %s', async (_, view, noted) => {
    const { deliver, handled, gated, unhandled } = setUp()

    const acks = await deliver('view', { ...submission, view: { id: 'V1', blocks, ...view } })

    expect(acks).toEqual([{ response_action: 'errors', errors: { reason: expect.stringMatching(/^This form is out of date/) } }])
    expect([handled, gated, unhandled]).toEqual([[], [], [noted]])
  })
})

describe('an id that is the name of what every object has', () => {
  it.each(['constructor', '__proto__', 'toString'])('is not known: %s', async (id) => {
    const { deliver, answers, handled } = setUp()

    await deliver('action', click({ action_id: id }, { channel: { id: 'C0OPS00001' } }))
    const [choices] = await deliver('options', { type: 'block_suggestion', action_id: id, user: ada })

    expect([answers, handled]).toEqual([[expect.stringMatching(/This button/)], []])
    expect(JSON.stringify(choices)).toContain('This form is out of date')
  })
})

describe('what comes without the id by which a repeat is known', () => {
  it.each<[string, string, object, object]>([
    ['a command', 'command', deliveries.command?.['a command']?.body ?? {}, { trigger_id: null }],
    [
      'a click',
      'action',
      click({ action_id: 'press', value: 'v' }, { channel: { id: 'C0OPS00001' } }),
      { trigger_id: null, actions: [{ action_id: 'press', block_id: 'b', action_ts: null }] },
    ],
    ['a look at the Home tab', 'event', deliveries.event?.['a look at the Home tab']?.body ?? {}, { event_id: null }],
  ])('is taken for no repeat: %s', async (_, method, body, without) => {
    const keys: string[] = []
    const { deliver } = setUp({ isFirstDelivery: async (key) => keys.push(key) > 0 })

    for (const one of [body, body, { ...body, ...without }, { ...body, ...without }]) await deliver(method, one)

    expect(keys[1]).toBe(keys[0])
    expect(new Set(keys).size).toBe(3)
  })
})

describe('the acknowledgement', () => {
  it.each([
    ['goes out after 100 ms, and not before or later, while the word on the delivery hangs', undefined, 100],
    ['goes out with the word on the delivery, and not before it, where that comes sooner', 40, 40],
  ])('%s', async (_, wordAfterMs, ackedAtMs) => {
    vi.useFakeTimers()
    onTestFinished(() => void vi.useRealTimers())
    const { deliver, acked } = setUp({
      isFirstDelivery: () =>
        new Promise((resolve) => {
          if (wordAfterMs !== undefined) setTimeout(resolve, wordAfterMs, true)
        }),
    })

    void deliver('command', deliveries.command?.['a command']?.body ?? {})
    await vi.advanceTimersByTimeAsync(ackedAtMs - 1)
    const before = acked.length
    await vi.advanceTimersByTimeAsync(1)

    expect([before, acked.length]).toEqual([0, 1])
  })

  it('waits for nothing else: what comes first is done after the word on it, however late', async () => {
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
  it('is shown to whom it is open, and the refusal to whom it is not', async () => {
    const open = setUp()
    const closed = setUp({ authorize: refuse })
    const body = deliveries.event?.['a look at the Home tab']?.body ?? {}

    await open.deliver('event', body)
    await closed.deliver('event', body)

    expect([open.homes, closed.homes]).toEqual([[[ada.id, undefined]], [[ada.id, refusal]]])
  })

  it('is not shown for a look at the messages', async () => {
    const { deliver, homes, gated } = setUp()

    await deliver('event', { team_id: 'T0NIMBUS01', event_id: 'Ev2', event: { type: 'app_home_opened', user: ada.id, tab: 'messages' } })

    expect([homes, gated]).toEqual([[], []])
  })
})
