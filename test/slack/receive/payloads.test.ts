import { describe, expect, it } from 'vitest'
import type { z } from 'zod'
import {
  ClickPayload,
  CommandPayload,
  chosenOf,
  deliveryKey,
  HomeOpenedPayload,
  OptionsPayload,
  readMetadata,
  SubmissionPayload,
  View,
  valuesOf,
  writeMetadata,
} from '../../../src/slack/receive/payloads.ts'

const user = { id: 'U0ADA00001', team_id: 'T0NIMBUS01' }

/** The same payload with `odd` in the place of every member that it does not need, at any depth. */
function spoil(schema: z.ZodType, needed: unknown, odd: unknown): unknown {
  const shape = (schema as { shape?: Record<string, z.ZodType> }).shape
  if (shape === undefined || typeof needed !== 'object' || needed === null) return needed
  const has = needed as Record<string, unknown>
  return Object.fromEntries(Object.entries(shape).map(([name, part]) => [name, name in has ? spoil(part, has[name], odd) : odd]))
}

describe('what Slack sends', () => {
  it('is taken with what it carries beyond what is used, and without what is not there', () => {
    const click = ClickPayload.parse({
      type: 'block_actions',
      user: { ...user, username: 'ada' },
      team: null,
      container: { type: 'message', message_ts: '1795010759.000100' },
      actions: [{ type: 'button', action_id: 'approve', value: 'r1', style: 'primary' }],
    })

    expect(click).toMatchObject({
      user: { id: 'U0ADA00001' },
      team: undefined,
      trigger_id: '',
      actions: [{ action_id: 'approve', value: 'r1' }],
    })
    expect(CommandPayload.parse({ command: '/infra', user_id: 'U0ADA00001', channel_id: 'C0OPS00001' }).text).toBe('')
    expect(OptionsPayload.parse({ type: 'block_suggestion', action_id: 'server', user }).value).toBe('')
    expect(SubmissionPayload.parse({ type: 'view_submission', user, view: { id: 'V1' } }).view).toMatchObject({
      callback_id: '',
      private_metadata: '',
    })
  })

  it.each<[string, z.ZodType, object]>([
    ['a command', CommandPayload, { command: '/infra', user_id: user.id, channel_id: 'C0OPS00001' }],
    ['a click', ClickPayload.omit({ view: true }), { type: 'block_actions', user: { id: user.id }, actions: [{ action_id: 'approve' }] }],
    ['a view', View, { id: 'V1' }],
    ['a submission', SubmissionPayload, { type: 'view_submission', user: { id: user.id }, view: { id: 'V1' } }],
    ['an option load', OptionsPayload, { type: 'block_suggestion', user: { id: user.id }, action_id: 'server' }],
    ['a look at the Home tab', HomeOpenedPayload, { event: { type: 'app_home_opened', user: user.id } }],
  ])('is taken as %s, whatever becomes of what is not needed', (_, payload, needed) => {
    const bare = payload.parse(needed)

    // Of these no member is made.
    for (const odd of [null, 7, true]) expect(payload.parse(spoil(payload, needed, odd))).toEqual(bare)
    for (const odd of ['x', [], {}]) expect(payload.safeParse(spoil(payload, needed, odd)).success).toBe(true)
    expect(payload.parse(bare)).toEqual(bare)
  })

  it.each([
    ['a click on nothing', ClickPayload, { type: 'block_actions', user, actions: [] }],
    ['a click of nobody', ClickPayload, { type: 'block_actions', actions: [{ action_id: 'approve' }] }],
    ['a click of an empty id', ClickPayload, { type: 'block_actions', user: { id: '' }, actions: [{ action_id: 'approve' }] }],
    ['a click in a view that cannot be told', ClickPayload, { type: 'block_actions', user, actions: [{ action_id: 'x' }], view: {} }],
    ['a command of nobody', CommandPayload, { command: '/infra', channel_id: 'C0OPS00001' }],
    ['a submission of no modal', SubmissionPayload, { type: 'view_submission', user }],
  ])('is refused as %s', (_, payload, body) => {
    expect(payload.safeParse(body).success).toBe(false)
  })
})

describe('what was entered', () => {
  const enter = (values: unknown) => View.parse({ id: 'V1', state: { values } }).state
  const state = enter({
    server: { pick: { selected_option: { text: { text: 'web-2' }, value: 'sv_22mUQSvUfeqdv' } } },
    reason: { write: { value: 'web-1 is rebooted' } },
    who: { pick: { selected_user: 'U0BEN00001' } },
    empty: { write: { value: null } },
    unpicked: { pick: { selected_option: null } },
    nothing: {},
  })

  it('is text, or the value of the chosen option, by block', () => {
    expect(valuesOf(state)).toEqual({ server: 'sv_22mUQSvUfeqdv', reason: 'web-1 is rebooted', who: 'U0BEN00001' })
    expect(valuesOf(undefined)).toEqual({})
  })

  it('keeps the text of the option that the person saw', () => {
    expect(chosenOf(state)).toEqual({ server: { text: { type: 'plain_text', text: 'web-2' }, value: 'sv_22mUQSvUfeqdv' } })
  })

  it.each<[string, unknown]>([
    ['that is null', null],
    ['with an element that is null', { pick: null }],
    ['with an element that is text', { pick: 'x' }],
    ['with a value of another type', { pick: { value: 7 } }],
    ['with checkboxes', { pick: { type: 'checkboxes', selected_options: [{ text: { text: 'x' }, value: 'x' }] } }],
    ['with several people', { pick: { type: 'multi_users_select', selected_users: ['U1'] } }],
    ['with an option that is empty', { pick: { selected_option: {} } }],
    ['with an option that is text', { pick: { selected_option: 'sv_22mUQSvUfeqdv' } }],
  ])('is nothing in a block %s, and stays in the others', (_, odd) => {
    const entered = enter({ odd, reason: { write: { value: 'web-1 is rebooted' } } })

    expect(valuesOf(entered)).toEqual({ reason: 'web-1 is rebooted' })
    expect(Object.values(chosenOf(entered)).filter((chosen) => chosen !== undefined)).toEqual([])
  })

  it.each([{}, null, 'x', [], { values: null }, { values: [] }])('is nothing where the state is %j', (odd) => {
    expect(valuesOf(View.parse({ id: 'V1', state: odd }).state)).toEqual({})
  })

  it.each<[string, unknown]>([
    ['no text', undefined],
    ['a text that is null', null],
    ['an empty text', { type: 'plain_text', text: '' }],
  ])('is called by its value where the chosen option has %s', (_, text) => {
    const entered = enter({ server: { pick: { selected_option: { text, value: 'sv_22mUQSvUfeqdv' } } } })

    expect(valuesOf(entered)).toEqual({ server: 'sv_22mUQSvUfeqdv' })
    expect(chosenOf(entered)).toEqual({ server: { text: { type: 'plain_text', text: 'sv_22mUQSvUfeqdv' }, value: 'sv_22mUQSvUfeqdv' } })
  })
})

describe('what a modal carries along', () => {
  const origin = { teamId: 'T0NIMBUS01', channelId: 'C0OPS00001', userId: 'U0ADA00001', command: '/infra' }

  it('is read as it was written', () => {
    const metadata = { origin, responseUrl: 'https://hooks.slack.example/commands/1', extra: 'r1' }

    expect(readMetadata(writeMetadata(metadata))).toEqual(metadata)
  })

  it.each(['', 'null', '{', '{"origin":{}}', '[]'])('is nothing when another version wrote it: %j', (text) => {
    expect(readMetadata(text)).toBeUndefined()
  })
})

describe('the key of a delivery', () => {
  it('is the same for the same act, and for no other', () => {
    const acts = [['a', 'b'], ['ab'], ['a', undefined, 'b'], ['a', 'b', undefined], ['b', 'a'], []]
    const keys = acts.map((parts) => deliveryKey(...parts))

    expect(acts.map((parts) => deliveryKey(...parts))).toEqual(keys)
    expect(new Set(keys).size).toBe(acts.length)
    expect(keys.every((key) => /^[0-9a-f]{40}$/.test(key))).toBe(true)
  })
})
