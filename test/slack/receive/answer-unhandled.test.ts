import { describe, expect, it } from 'vitest'
import { acknowledgementFor, followUpFor, type UnhandledPayload, writeMetadata } from '../../../src/slack/payloads.ts'

const responseUrl = 'https://hooks.slack.com/actions/T0/1/x'
const origin = { teamId: 'T0NIMBUS01', channelId: 'C0OPS00001', userId: 'U0ADA00001', command: '/infra' }

const unreadable = (kind: string): UnhandledPayload => ({ kind, why: 'unreadable', members: ['user'] })
const withoutListener = (kind: string): UnhandledPayload => ({ kind, why: 'no-listener' })
const failed = (kind: string): UnhandledPayload => ({ kind, why: 'listener-failed' })

describe('the acknowledgement of an unhandled payload', () => {
  it('keeps a form open with an error at its first input', () => {
    const view = {
      blocks: [
        { type: 'section', block_id: 'a' },
        { type: 'input', block_id: 'server' },
        { type: 'input', block_id: 'reason' },
      ],
    }

    expect(acknowledgementFor(unreadable('view_submission'), { view })).toMatchInlineSnapshot(`
      {
        "errors": {
          "server": "Couldn't read this form. Nothing was changed. Try again. If it lasts, tell the people who run Lockkeeper.",
        },
        "response_action": "errors",
      }
    `)
    expect(acknowledgementFor(failed('view_submission'), { view })).toMatchInlineSnapshot(`
      {
        "errors": {
          "server": "Something went wrong with this form. Tell the people who run Lockkeeper. The log has the details.",
        },
        "response_action": "errors",
      }
    `)
  })

  it.each<[string, unknown]>([
    ['view', undefined],
    ['view', { blocks: 'x' }],
    ['input', { blocks: [null, 7, { type: 'actions', block_id: 'a' }] }],
    ['input with an id', { blocks: [{ type: 'input' }, { type: 'input', block_id: '' }] }],
  ])('pushes the error on top of a form without a readable %s', (_, view) => {
    expect(acknowledgementFor(unreadable('view_submission'), { view })).toMatchObject({
      response_action: 'push',
      view: { type: 'modal', close: { text: 'Back' }, blocks: [{ text: { text: expect.stringMatching(/^Couldn't read this form/) } }] },
    })
  })

  it('answers a command with an ephemeral sentence', () => {
    expect(acknowledgementFor(unreadable('command'), {})).toMatchInlineSnapshot(`
      {
        "response_type": "ephemeral",
        "text": "Couldn't read this command. Nothing was changed. Try again. If it lasts, tell the people who run Lockkeeper.",
      }
    `)
  })

  it.each<[string, object]>([
    ['block_suggestion', {}],
    ['dialog_suggestion', { name: 'menu' }],
    ['interactive_message', { name: 'menu' }],
  ])('gives a picker an empty list: %s', (kind, body) => {
    expect(acknowledgementFor(unreadable(kind), body)).toEqual({ options: [] })
  })

  it.each<[string, unknown]>([
    ['block_actions', {}],
    ['interactive_message', { actions: [{}] }],
    ['shortcut', {}],
    ['view_closed', {}],
    ['function_executed', {}],
    ['unknown', null],
  ])('is empty for everything else: %s', (kind, body) => {
    expect(acknowledgementFor(withoutListener(kind), body)).toBeUndefined()
  })
})

describe('the message after the acknowledgement of an unhandled payload', () => {
  it.each<[string, UnhandledPayload, string]>([
    ['is unreadable', unreadable('block_actions'), "Couldn't read this click. Nothing was changed."],
    ['had a listener that failed', failed('block_actions'), 'Something went wrong with this click.'],
    ['has no listener', withoutListener('message_action'), "Lockkeeper doesn't handle this. Nothing was changed."],
  ])('says that the payload %s', (_, unhandled, words) => {
    const answer = followUpFor(unhandled, { response_url: responseUrl })

    expect(answer?.responseUrl).toBe(responseUrl)
    expect(answer?.words.text).toContain(words)
  })

  it('goes to the response URL in the metadata of a modal', () => {
    const view = { private_metadata: writeMetadata({ origin, responseUrl }) }

    expect(followUpFor(unreadable('block_actions'), { view })?.responseUrl).toBe(responseUrl)
  })

  it.each<[string, UnhandledPayload, unknown]>([
    ['there is no response URL', unreadable('block_actions'), { response_url: null, view: { private_metadata: { toString: null } } }],
    ['the acknowledgement already says it', unreadable('command'), { response_url: responseUrl }],
    ['a dialog was only closed', withoutListener('dialog_cancellation'), { response_url: responseUrl }],
    ['the payload is null', withoutListener('unknown'), null],
  ])('is left out if %s', (_, unhandled, body) => {
    expect(followUpFor(unhandled, body)).toBeUndefined()
  })
})
