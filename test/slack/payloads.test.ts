import { describe, expect, it } from 'vitest'
import {
  ClickPayload,
  CommandPayload,
  chosenOf,
  deliveryKey,
  OptionsPayload,
  readMetadata,
  SubmissionPayload,
  valuesOf,
  writeMetadata,
} from '../../src/slack/payloads.ts'

const user = { id: 'U0ADA00001', team_id: 'T0NIMBUS01' }

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
      team: null,
      trigger_id: '',
      actions: [{ action_id: 'approve', value: 'r1' }],
    })
    expect(CommandPayload.parse({ command: '/infra', user_id: 'U0ADA00001', channel_id: 'C0OPS00001' }).text).toBe('')
    expect(OptionsPayload.parse({ action_id: 'server', user }).value).toBe('')
    expect(SubmissionPayload.parse({ user, view: { id: 'V1' } }).view).toMatchObject({ callback_id: '', private_metadata: '' })
  })

  it.each([
    ['a click on nothing', ClickPayload, { user, actions: [] }],
    ['a click of nobody', ClickPayload, { actions: [{ action_id: 'approve' }] }],
    ['a command of nobody', CommandPayload, { command: '/infra', channel_id: 'C0OPS00001' }],
    ['a submission of no modal', SubmissionPayload, { user }],
  ])('is refused as %s', (_, payload, body) => {
    expect(payload.safeParse(body).success).toBe(false)
  })
})

describe('what was entered', () => {
  const state = {
    values: {
      server: { pick: { selected_option: { text: { text: 'web-2' }, value: 'sv_22mUQSvUfeqdv' } } },
      reason: { write: { value: 'web-1 is rebooted' } },
      who: { pick: { selected_user: 'U0BEN00001' } },
      empty: { write: { value: null } },
      unpicked: { pick: { selected_option: null } },
      nothing: {},
    },
  }

  it('is text, or the value of the chosen option, by block', () => {
    expect(valuesOf(state)).toEqual({ server: 'sv_22mUQSvUfeqdv', reason: 'web-1 is rebooted', who: 'U0BEN00001' })
    expect(valuesOf(undefined)).toEqual({})
  })

  it('keeps the text of the option that the person saw', () => {
    expect(chosenOf(state)).toEqual({ server: { text: { type: 'plain_text', text: 'web-2' }, value: 'sv_22mUQSvUfeqdv' } })
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
