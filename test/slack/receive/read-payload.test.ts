import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readPayload } from '../../../src/slack/payloads.ts'

const user = { id: 'U0ADA00001' }

describe('a payload from Slack', () => {
  it.each<[string, object]>([
    ['command', { command: '/infra', user_id: user.id, channel_id: 'C0OPS00001' }],
    ['block_actions', { type: 'block_actions', user, actions: [{ action_id: 'approve' }] }],
    ['view_submission', { type: 'view_submission', user, view: { id: 'V1' } }],
    ['block_suggestion', { type: 'block_suggestion', user, action_id: 'server' }],
    ['app_home_opened', { type: 'event_callback', event: { type: 'app_home_opened', user: user.id } }],
  ])('is parsed if its kind has a listener: %s', (kind, body) => {
    expect(readPayload(body)).toMatchObject({ is: 'read', kind })
  })

  it.each<[string, object, string[]]>([
    ['command', { command: '/infra' }, ['user_id', 'channel_id']],
    ['block_actions', { type: 'block_actions', user: null, actions: [{ action_id: 7 }] }, ['user', 'actions.0.action_id']],
    ['view_submission', { type: 'view_submission', user: { id: '' }, view: [] }, ['user.id', 'view']],
    ['block_suggestion', { type: 'block_suggestion', user: {} }, ['action_id', 'user.id']],
    ['app_home_opened', { type: 'event_callback', event: { type: 'app_home_opened' } }, ['event.user']],
  ])('is unreadable with the names of the members that are missing or wrong: %s', (kind, body, members) => {
    const reading = readPayload(body)

    expect(reading).toMatchObject({ is: 'unhandled', unhandled: { kind, why: 'unreadable' } })
    expect(reading.is === 'unhandled' && reading.unhandled.members?.toSorted()).toEqual(members.toSorted())
  })

  it.each<[string, unknown]>([
    ['workflow_step_edit', { type: 'workflow_step_edit', user }],
    ['message', { type: 'event_callback', event: { type: 'message', user: user.id } }],
    ['event_callback', { type: 'event_callback', event: null }],
    ['app_rate_limited', { type: 'app_rate_limited' }],
    // Names of members that every object has.
    ['constructor', { type: 'constructor' }],
    ['unknown', { type: '__proto__' }],
    ['unknown', { type: 'xoxb-1-secret' }],
    ['unknown', { type: 'x'.repeat(61) }],
    ['unknown', {}],
    ['unknown', null],
    ['unknown', undefined],
    ['unknown', 'shortcut'],
    ['unknown', []],
  ])('is reported by its kind if that has no listener: %s', (kind, body) => {
    expect(readPayload(body)).toEqual({ is: 'unhandled', unhandled: { kind, why: 'no-listener' } })
  })

  it('never makes the function throw, whatever it is', () => {
    const type = fc.constantFrom('block_actions', 'view_submission', 'block_suggestion', 'event_callback', 'shortcut')
    const body = fc.record(
      { type, command: fc.jsonValue(), user: fc.jsonValue(), view: fc.jsonValue(), actions: fc.jsonValue(), event: fc.jsonValue() },
      { requiredKeys: [] },
    )
    fc.assert(fc.property(fc.oneof(body, fc.jsonValue()), (any) => ['read', 'unhandled'].includes(readPayload(any).is)))
  })
})
