import { App, type Logger } from '@slack/bolt'
import { describe, expect, it } from 'vitest'
import { type Screening, screen, type UnhandledPayload } from '../../../src/slack/payloads.ts'

type Event = Parameters<App['processEvent']>[0]

const responseUrl = 'https://hooks.slack.com/actions/T0/1/x'
const user = { id: 'U0ADA00001', team_id: 'T0NIMBUS01' }
const click = { type: 'block_actions', user, actions: [{ action_id: 'press', block_id: 'b', action_ts: '1' }], response_url: responseUrl }
const submission = { type: 'view_submission', user, view: { id: 'V1', callback_id: 'c', blocks: [{ type: 'input', block_id: 'reason' }] } }
const keptForm = { response_action: 'errors', errors: { reason: expect.stringMatching(/form/) } }

const quiet = { debug() {}, info() {}, warn() {}, error() {}, setLevel() {}, getLevel: () => 'info', setName() {} } as unknown as Logger

/** A real Bolt app behind a screen and a receiver without a transport. `happened` lists what happened, in order. */
async function setUp(listenTo: (app: App, happened: string[]) => void = () => {}) {
  const happened: string[] = []
  const acks: unknown[] = []
  const unhandled: UnhandledPayload[] = []
  const acknowledged: [kind: string, ms: number][] = []
  let receive: (event: Event) => Promise<void> = async () => {}
  const receiver = {
    init: (app: App) => {
      receive = (event) => app.processEvent(event)
    },
    start: async (...args: unknown[]) => `started ${args}`,
    stop: async (...args: unknown[]) => `stopped ${args}`,
  }
  const screening: Screening = {
    respond: async (url, { text }) => {
      happened.push(`answered ${url}: ${text.slice(0, 24)}`)
      return { is: 'sent' }
    },
    onUnhandled: (one) => {
      happened.push('reported')
      unhandled.push(one)
    },
    onAcknowledged: (kind, ms) => void acknowledged.push([kind, ms]),
  }
  const screened = screen(receiver, screening)
  const authorize = async () => ({ botToken: 'xoxb-1', botId: 'B1', botUserId: 'U1' })
  const app = new App({ receiver: screened, authorize, logger: quiet, convoStore: false, deferInitialization: true })
  await app.init()
  app.error(async () => void happened.push('failed'))
  listenTo(app, happened)

  async function deliver(body: unknown) {
    await receive({
      body: body as Event['body'],
      ack: async (answer) => {
        happened.push('acknowledged')
        acks.push(answer)
      },
    })
  }

  return { app, screened, happened, acks, unhandled, acknowledged, deliver }
}

describe('the time to acknowledge', () => {
  it('is measured from the arrival of a payload, once for each, whoever acknowledges it', async () => {
    const { acknowledged, deliver } = await setUp((app) =>
      app.action(/^/, async ({ ack }) => {
        await new Promise((resolve) => setTimeout(resolve, 40))
        await ack()
      }),
    )

    await deliver(click)
    await deliver({ type: 'view_closed', user, view: { id: 'V1' } })

    expect(acknowledged.map(([kind]) => kind)).toEqual(['block_actions', 'view_closed'])
    expect(acknowledged[0]?.[1]).toBeGreaterThan(35)
    expect(acknowledged[1]?.[1]).toBeLessThan(35)
  })
})

describe('a payload without a listener', () => {
  it.each<[string, unknown]>([
    ['a step of a workflow to edit', { type: 'workflow_step_edit', user }],
    ['a closed view', { type: 'view_closed', user, view: { id: 'V1' } }],
    ['a step of a workflow', { type: 'event_callback', event: { type: 'function_executed' } }],
    ['null', null],
    ['nothing', undefined],
  ])('is acknowledged first, and then reported: %s', async (_, body) => {
    const { happened, acks, deliver } = await setUp()

    await deliver(body)

    expect([happened, acks]).toEqual([['acknowledged', 'reported'], [undefined]])
  })

  it('never reaches Bolt, which could throw when it reads it', async () => {
    const { app, deliver, acks } = await setUp()
    app.processEvent = () => Promise.reject(new TypeError('of Bolt'))

    await deliver({ type: 'event_callback', event: { type: 'reaction_added', user: null, item: null } })

    expect(acks).toEqual([undefined])
  })
})

describe('an unreadable payload', () => {
  it('is acknowledged, reported with the missing members, and answered', async () => {
    const { happened, unhandled, deliver } = await setUp()

    await deliver({ ...click, user: null })

    expect(happened).toEqual(['acknowledged', 'reported', `answered ${responseUrl}: Couldn't read this click`])
    expect(unhandled).toEqual([{ kind: 'block_actions', why: 'unreadable', members: ['user'] }])
  })

  it('reaches no listener', async () => {
    const { happened, acks, deliver } = await setUp((app, happened) => app.view(/^/, async () => void happened.push('handled')))

    await deliver({ ...submission, user: {} })

    expect([happened, acks]).toEqual([['acknowledged', 'reported'], [keptForm]])
  })
})

describe('a readable payload', () => {
  it('reaches its listener without members that are null or unused, and is acknowledged only by it', async () => {
    const bodies: unknown[] = []
    const { happened, unhandled, deliver } = await setUp((app) =>
      app.action(/^/, async ({ body, ack }) => {
        bodies.push(body)
        await ack()
      }),
    )

    await deliver({ ...click, channel: null, view: null, message: null, enterprise: 7, name: 'x', event: null })

    expect([happened, unhandled]).toEqual([['acknowledged'], []])
    expect(bodies).toEqual([{ ...click, trigger_id: '' }])
  })

  it('is acknowledged if its listener fails before the acknowledgement, and a form stays open', async () => {
    const { happened, acks, unhandled, deliver } = await setUp((app) => app.view(/^/, () => Promise.reject(new Error('a defect'))))

    await deliver(submission)

    expect([happened, acks]).toEqual([['failed', 'acknowledged', 'reported'], [keptForm]])
    expect(unhandled).toEqual([{ kind: 'view_submission', why: 'listener-failed' }])
  })

  it('is acknowledged if Bolt itself fails, and the error is passed on', async () => {
    const { app, acks, deliver } = await setUp()
    app.processEvent = () => Promise.reject(new TypeError('of Bolt'))

    await expect(deliver(submission)).rejects.toThrow('of Bolt')

    expect(acks).toEqual([keptForm])
  })

  it('is acknowledged only once if its listener fails after the acknowledgement', async () => {
    const { happened, deliver } = await setUp((app) =>
      app.action(/^/, async ({ ack }) => {
        await ack()
        throw new Error('a defect')
      }),
    )

    await deliver(click)

    expect(happened).toEqual(['acknowledged', 'failed'])
  })
})

it('the screen starts and stops its receiver', async () => {
  const { app } = await setUp()

  expect([await app.start(3000), await app.stop()]).toEqual(['started 3000', 'stopped '])
})
