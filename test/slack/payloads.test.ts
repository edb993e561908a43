import { describe, expect, it } from 'vitest'
import type { z } from 'zod'
import { formMetadata } from '../../src/bolt/open-forms.ts'
import { enteredIn, readMetadata, schemas, writeMetadata } from '../../src/slack/payloads.ts'
import { fakeApp } from '../fake-app.ts'

const {
  command: CommandPayload,
  block_actions: ClickPayload,
  view_submission: SubmissionPayload,
  block_suggestion: OptionsPayload,
  app_home_opened: HomeOpenedPayload,
} = schemas
const View = SubmissionPayload.shape.view

const user = { id: 'U0ADA00001', team_id: 'T0NIMBUS01' }

/** Returns the payload with `odd` in place of every member that is not required, at any depth. */
function withOddMembers(schema: z.ZodType, needed: unknown, odd: unknown): unknown {
  const shape = (schema as { shape?: Record<string, z.ZodType> }).shape
  if (shape === undefined || typeof needed !== 'object' || needed === null) return needed
  const has = needed as Record<string, unknown>
  return Object.fromEntries(Object.entries(shape).map(([name, part]) => [name, name in has ? withOddMembers(part, has[name], odd) : odd]))
}

describe('a payload', () => {
  it.each<[string, z.ZodType, object]>([
    ['a command', CommandPayload, { command: '/infra', user_id: user.id, channel_id: 'C0OPS00001' }],
    ['a click', ClickPayload.omit({ view: true }), { type: 'block_actions', user: { id: user.id }, actions: [{ action_id: 'approve' }] }],
    ['a view', View, { id: 'V1' }],
    ['a submission', SubmissionPayload, { type: 'view_submission', user: { id: user.id }, view: { id: 'V1' } }],
    ['an option load', OptionsPayload, { type: 'block_suggestion', user: { id: user.id }, action_id: 'server' }],
    ['an opened Home tab', HomeOpenedPayload, { event: { type: 'app_home_opened', user: user.id } }],
  ])('is parsed whatever its optional members hold: %s', (_, payload, needed) => {
    const bare = payload.parse(needed)

    // These values are of no type that a member has, so every such member counts as absent.
    for (const odd of [null, 7, true]) expect(payload.parse(withOddMembers(payload, needed, odd))).toEqual(bare)
    for (const odd of ['x', [], {}]) expect(payload.safeParse(withOddMembers(payload, needed, odd)).success).toBe(true)
    expect(payload.parse(bare)).toEqual(bare)
  })

  it.each([
    ['a click without an action', ClickPayload, { type: 'block_actions', user, actions: [] }],
    ['a click without a user', ClickPayload, { type: 'block_actions', actions: [{ action_id: 'approve' }] }],
    ['a click with an empty user id', ClickPayload, { type: 'block_actions', user: { id: '' }, actions: [{ action_id: 'approve' }] }],
    ['a click in a view without an id', ClickPayload, { type: 'block_actions', user, actions: [{ action_id: 'x' }], view: {} }],
    ['a command without a user', CommandPayload, { command: '/infra', channel_id: 'C0OPS00001' }],
    ['a submission without a view', SubmissionPayload, { type: 'view_submission', user }],
  ])('is refused: %s', (_, payload, body) => {
    expect(payload.safeParse(body).success).toBe(false)
  })
})

describe('the state of a form', () => {
  const enter = (values: unknown) => View.parse({ id: 'V1', state: { values } }).state
  const state = enter({
    server: { pick: { selected_option: { text: { text: 'web-2' }, value: 'sv_22mUQSvUfeqdv' } } },
    reason: { write: { value: 'web-1 is rebooted' } },
    who: { pick: { selected_user: 'U0BEN00001' } },
    empty: { write: { value: null } },
    unpicked: { pick: { selected_option: null } },
    nothing: {},
    confirmed: { e: { selected_options: [{ value: 'yes' }] } },
    none: { e: { selected_options: [] } },
  })

  it('gives values by block, the chosen options with the text that the person saw, and the ticked checkboxes', () => {
    expect(enteredIn(state)).toEqual({
      values: { server: 'sv_22mUQSvUfeqdv', reason: 'web-1 is rebooted', who: 'U0BEN00001' },
      chosen: { server: { text: { type: 'plain_text', text: 'web-2' }, value: 'sv_22mUQSvUfeqdv' } },
      ticked: { confirmed: ['yes'], none: [] },
    })
    const pasted = { values: { name: { name: { value: 'web\u200b-1\u00a0old' } } } }
    expect(enteredIn(pasted).values).toEqual({ name: 'web-1 old' })
    expect(enteredIn(undefined).values).toEqual({})
  })

  it.each<[string, unknown]>([
    ['that is null', null],
    ['with an element that is null', { pick: null }],
    ['with an element that is text', { pick: 'x' }],
    ['with a value of another type', { pick: { value: 7 } }],
    ['with an option that is empty', { pick: { selected_option: {} } }],
    ['with an option that is text', { pick: { selected_option: 'sv_22mUQSvUfeqdv' } }],
  ])('gives nothing for a block %s, and keeps the values of the others', (_, odd) => {
    const entered = enter({ odd, reason: { write: { value: 'web-1 is rebooted' } } })

    expect(enteredIn(entered).values).toEqual({ reason: 'web-1 is rebooted' })
    expect(Object.values(enteredIn(entered).chosen).filter((chosen) => chosen !== undefined)).toEqual([])
  })

  it('gives the value of a chosen option as its text if it has none', () => {
    const entered = enter({ server: { pick: { selected_option: { text: null, value: 'sv_22mUQSvUfeqdv' } } } })

    expect(enteredIn(entered).chosen.server?.text.text).toBe('sv_22mUQSvUfeqdv')
  })
})

it("a modal's metadata is read as it was written, and not from another version or damaged", () => {
  const metadata = { origin: { teamId: 'T0NIMBUS01', channelId: 'C0OPS00001', userId: user.id, command: '/infra' }, reason: 'OPS-123' }

  expect(readMetadata(writeMetadata(metadata))).toMatchObject(metadata)
  for (const text of ['', '{', '{}', writeMetadata(metadata).replace('"version":1', '"version":2')])
    expect(readMetadata(text)).toBeUndefined()
})

it('the metadata of a form has room for what rules require of a reason, and for what is added to it', () => {
  const id = 'W0123456789'
  const responseUrl = `https://hooks.slack.com/commands/T0NIMBUS01/1234567890123/${'x'.repeat(60)}`
  const opened = {
    origin: { teamId: id, channelId: id, userId: id, command: `/${'x'.repeat(31)}` },
    responseUrl,
    reason: '"'.repeat(3_000),
    start: `in ${'"'.repeat(2_900)}`,
  }
  const app = fakeApp({ directory: { knownZone: () => 'America/Argentina/ComodRivadavia' } })
  const linked = { id: 'f'.repeat(32), link: `https://nimbus-works-of-the-north.slack.com/archives/${id}/p1795010400000100` }
  const more = { undoes: linked, repeats: linked, message: { channelId: id, ts: '1795010400.000100' } }
  const longest = { rule: '"'.repeat(60), pattern: '\\'.repeat(200), link: 'https://tickets.example.com/browse/$0' }
  const written = formMetadata(app, opened, longest, more)

  expect(written.length).toBeLessThan(3_000 - 150)
  expect(readMetadata(written)?.reasonTerms).toEqual({ rule: longest.rule, pattern: longest.pattern })
})
