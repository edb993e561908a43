import type { ModalView } from '@slack/web-api'
import { describe, expect, it } from 'vitest'
import { answerTo as answerToPlace, showSecret } from '../../src/bolt/answers.ts'
import { Secret } from '../../src/domain/signing.ts'
import { notice } from '../../src/slack/blocks.ts'
import { mrkdwn } from '../../src/slack/text.ts'
import type { SlackFailure } from '../../src/slack/web-api.ts'
import { fakeApp } from '../fake-app.ts'

const refused: SlackFailure = { is: 'refused', error: 'channel_not_found' }
const answer = notice(mrkdwn`You are not an approver of this.`)
const origin = { teamId: 'T0NIMBUS01', channelId: 'C0OPS00001', userId: 'U0BEN00001', command: '/infra' }
const onHome = { ...origin, channelId: '' }
const responseUrl = 'https://hooks.slack.com/actions/T0/1/x'

/** The four ways to answer a person. Those in `broken` fail. `sent` records what was sent in which way. */
function setUp({ broken = [] as ('respond' | 'ephemeral' | 'modal' | 'direct' | 'table')[] } = {}) {
  const sent: unknown[] = []
  const errors: unknown[] = []
  let modals = 0
  const app = fakeApp({
    slack: {
      messenger: {
        postEphemeral: async (where, message) => {
          sent.push({ by: 'ephemeral', where: [where.channelId, where.userId], text: message.text })
          return broken.includes('ephemeral') ? refused : { is: 'sent' }
        },
        openView: async (triggerId, view: ModalView) => {
          sent.push({ by: 'modal', triggerId, title: view.title.text, submit: view.submit, blocks: view.blocks })
          modals += 1
          // A trigger opens one modal.
          return broken.includes('modal') || modals > 1 ? { is: 'refused', error: 'expired_trigger_id' } : { is: 'opened', viewId: 'V1' }
        },
        post: async ({ channelId }, message) => {
          sent.push({ by: 'direct', to: channelId, text: message.text })
          return broken.includes('direct') ? refused : { is: 'sent', ts: '1.2', channelId: 'D0BEN00001' }
        },
      },
      respond: async (url, message, { replaceOriginal } = {}) => {
        sent.push({ by: 'respond', url, text: message.text, replaceOriginal })
        if (broken.includes('table') && message.text === 'table') return { is: 'refused', error: 'invalid_blocks' }
        return broken.includes('respond') ? refused : { is: 'sent' }
      },
    },
    errors: { of: (place) => (error) => void errors.push([place, error]) },
  })
  const answerTo = (place: Parameters<typeof answerToPlace>[1]) => answerToPlace(app, place)
  return { answerTo, sent, errors }
}

const text = answer.text
const respond = { by: 'respond', url: responseUrl, text, replaceOriginal: false }
const ephemeral = { by: 'ephemeral', where: ['C0OPS00001', 'U0BEN00001'], text }
const direct = { by: 'direct', to: 'U0BEN00001', text }

const modal = { by: 'modal', triggerId: 't1', title: 'Lockkeeper', submit: undefined, blocks: answer.blocks }

describe('an answer', () => {
  it.each([
    ['through the response URL', { responseUrl }, [], [respond]],
    ['as an ephemeral message if the response URL is used up', { responseUrl }, ['respond'], [respond, ephemeral]],
    ['as a direct message if both fail', { responseUrl }, ['respond', 'ephemeral'], [respond, ephemeral, direct]],
    ['without a modal in a channel', {}, ['ephemeral'], [ephemeral, direct]],
    ['in a modal on the Home tab', { origin: onHome }, [], [modal]],
    ['as a direct message if the trigger has expired', { origin: onHome }, ['modal'], [modal, direct]],
    ['as a direct message if there is no trigger', { origin: onHome, triggerId: '' }, [], [direct]],
  ] as const)('is sent %s', async (_, place, broken, expected) => {
    const { answerTo, sent, errors } = setUp({ broken: [...broken] })

    await answerTo({ origin, responseUrl: undefined, triggerId: 't1', ...place }).ephemeral(answer)

    expect([sent, errors]).toEqual([expected, []])
  })

  it('is reported as an error, and does not throw, if every way fails', async () => {
    const { answerTo, errors } = setUp({ broken: ['respond', 'ephemeral', 'direct'] })

    await answerTo({ origin, responseUrl }).ephemeral(answer)

    expect(errors).toEqual([['people', new Error('an answer could not be delivered: {"is":"refused","error":"channel_not_found"}')]])
  })

  it('begins with what the click was about, unless the message names it', async () => {
    const { answerTo, sent } = setUp()
    const given = answerTo({ origin, responseUrl, triggerId: 't1' })

    given.about(mrkdwn`*Move 203.0.113.10*`)
    await given.ephemeral(answer)
    await given.ephemeral(answer, { isWhole: true })

    expect(sent).toEqual([{ ...respond, text: `*Move 203.0.113.10*\n${text}` }, respond])
  })

  it.each([
    ['with its table', [], ['table']],
    ['once more without its table, where Slack refuses it', ['table'], ['table', text]],
  ] as const)('is sent %s', async (_, broken, expected) => {
    const { answerTo, sent } = setUp({ broken: [...broken] })

    await answerTo({ origin, responseUrl }).ephemeral({ table: { ...answer, text: 'table' }, instead: answer })

    expect(sent).toMatchObject(expected.map((one) => ({ by: 'respond', text: one })))
  })

  it.each([
    ['can replace the message that was clicked', false, true],
    ['never replaces a message that others see', true, false],
  ])('%s', async (_, isShared, replaceOriginal) => {
    const { answerTo, sent } = setUp()

    await answerTo({ origin, responseUrl, isShared }).replace(answer)

    expect(sent).toEqual([{ ...respond, replaceOriginal }])
  })

  it.each([
    ['replaces an interim one after a command', false],
    ['does not replace the message that was clicked', true],
  ])('%s', async (_, isClick) => {
    const { answerTo, sent } = setUp()
    const interim = notice(mrkdwn`Slower than usual. The result appears in this channel.`)
    const given = answerTo({ origin, responseUrl, isClick })

    const saying = given.interim(interim)
    await given.ephemeral(answer)
    await saying
    await given.ephemeral(answer)

    expect(sent).toEqual([{ ...respond, text: interim.text }, { ...respond, replaceOriginal: !isClick }, respond])
  })

  it('counts as given while it is being sent, and if it shows elsewhere', async () => {
    const { answerTo } = setUp()
    const [sending, elsewhere] = [answerTo({ origin, responseUrl }), answerTo({ origin, responseUrl })]
    const before = sending.given()

    const answering = sending.ephemeral(answer)
    elsewhere.elsewhere()

    expect([before, sending.given(), elsewhere.given()]).toEqual([false, true, true])
    await answering
  })
})

it('shows a secret after a block without it, which a notification may show', async () => {
  const shown: { text: string; blocks: object[] }[] = []
  const app = fakeApp({
    slack: {
      respond: async (_, message) => {
        if ('blocks' in message) shown.push(message)
        return { is: 'sent' }
      },
    },
  })
  const place = { responseUrl, channelId: 'C0OPS00001', userId: 'U0BEN00001' }
  const words = { heading: mrkdwn`*Your new API key ci*`, note: mrkdwn`Its name on the account is ci.` }
  expect(await showSecret(app, place, words, new Secret('0123456789abcdef'))).toBe('shown')
  const [
    {
      text,
      blocks: [first, second],
    } = { text: '', blocks: [] },
  ] = shown
  // A screen reader reads the text in place of the blocks.
  expect(text).toBe('*Your new API key ci* is in this message, only visible to you. Shown once: save it now.')
  expect(first).toMatchObject({ type: 'section', text: { text: '*Your new API key ci* is in this message, only visible to you.' } })
  expect(JSON.stringify(second)).toContain('0123456789abcdef')
})
