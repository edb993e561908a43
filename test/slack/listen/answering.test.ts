import type { ModalView } from '@slack/web-api'
import { describe, expect, it } from 'vitest'
import { notice } from '../../../src/slack/blocks/notice.ts'
import { createAnswering } from '../../../src/slack/listen/answering.ts'
import { mrkdwn } from '../../../src/slack/text/text.ts'
import type { SlackFailure } from '../../../src/slack/web-api/failure.ts'

const refused: SlackFailure = { is: 'refused', error: 'channel_not_found' }
const answer = notice(mrkdwn`You are not an approver of this.`)
const origin = { teamId: 'T0NIMBUS01', channelId: 'C0OPS00001', userId: 'U0BEN00001', command: '/infra' }
const onHome = { ...origin, channelId: '' }
const responseUrl = 'https://hooks.slack.com/actions/T0/1/x'

/** Slack's four ways to tell somebody something, of which those that are named do not work; and what was told by which. */
function setUp({ broken = [] as ('respond' | 'ephemeral' | 'modal' | 'direct')[] } = {}) {
  const told: unknown[] = []
  const errors: unknown[] = []
  let modals = 0
  const answerTo = createAnswering({
    messenger: {
      postEphemeral: async (where, message) => {
        told.push({ by: 'ephemeral', where: [where.channelId, where.userId], text: message.text })
        return broken.includes('ephemeral') ? refused : { is: 'sent' }
      },
      openView: async (triggerId, view: ModalView) => {
        told.push({ by: 'modal', triggerId, title: view.title.text, submit: view.submit, blocks: view.blocks })
        modals += 1
        // A trigger opens one modal.
        return broken.includes('modal') || modals > 1 ? { is: 'refused', error: 'expired_trigger_id' } : { is: 'opened', viewId: 'V1' }
      },
      post: async ({ channelId }, message) => {
        told.push({ by: 'direct', to: channelId, text: message.text })
        return broken.includes('direct') ? refused : { is: 'sent', ts: '1.2', channelId: 'D0BEN00001' }
      },
    },
    respond: async (url, message, options) => {
      told.push({ by: 'respond', url, text: message.text, ...options })
      return broken.includes('respond') ? refused : { is: 'sent' }
    },
    onError: (error, context) => void errors.push([error, context]),
  })
  return { answerTo, told, errors }
}

const text = answer.text
const respond = { by: 'respond', url: responseUrl, text, replaceOriginal: false }
const ephemeral = { by: 'ephemeral', where: ['C0OPS00001', 'U0BEN00001'], text }
const direct = { by: 'direct', to: 'U0BEN00001', text }

describe('an answer in a channel', () => {
  it.each([
    ['where they clicked', [], [respond]],
    ['in the channel for them alone, where the response address is used up', ['respond'], [respond, ephemeral]],
    ['directly, where neither works', ['respond', 'ephemeral'], [respond, ephemeral, direct]],
  ] as const)('comes %s', async (_, broken, expected) => {
    const { answerTo, told, errors } = setUp({ broken: [...broken] })

    await answerTo({ origin, responseUrl, triggerId: 't1' }).ephemeral(answer)

    expect(told).toEqual(expected)
    expect(errors).toEqual([])
  })

  it('comes in the channel where there is no response address, and opens no modal there', async () => {
    const { answerTo, told } = setUp({ broken: ['ephemeral'] })

    await answerTo({ origin, responseUrl: undefined, triggerId: 't1' }).ephemeral(answer)

    expect(told).toEqual([ephemeral, direct])
  })

  it('takes the place of what was clicked where it is to', async () => {
    const { answerTo, told } = setUp()

    await answerTo({ origin, responseUrl }).replace(answer)

    expect(told).toEqual([{ ...respond, replaceOriginal: true }])
  })

  it('that nobody takes is no error of whoever clicked, and is told to the people who run the bot', async () => {
    const { answerTo, errors } = setUp({ broken: ['respond', 'ephemeral', 'direct'] })

    await answerTo({ origin, responseUrl }).ephemeral(answer)

    expect(errors).toEqual([
      [new Error('an answer could not be delivered: {"is":"refused","error":"channel_not_found"}'), { at: 'answer' }],
    ])
  })
})

describe('an answer on the Home tab, which has no channel', () => {
  const modal = {
    by: 'modal',
    triggerId: 't1',
    title: 'Lockkeeper',
    submit: undefined,
    blocks: answer.blocks,
  }

  it('comes in a modal', async () => {
    const { answerTo, told } = setUp()

    await answerTo({ origin: onHome, responseUrl: undefined, triggerId: 't1' }).ephemeral(answer)

    expect(told).toEqual([modal])
  })

  it.each([
    ['the trigger has expired', 't1', ['modal'], [modal, direct]],
    ['there is no trigger', '', [], [direct]],
  ] as const)('comes in a direct message where %s', async (_, triggerId, broken, expected) => {
    const { answerTo, told, errors } = setUp({ broken: [...broken] })

    await answerTo({ origin: onHome, responseUrl: undefined, triggerId }).ephemeral(answer)

    expect(told).toEqual(expected)
    expect(errors).toEqual([])
  })

  it('comes in a direct message where a modal has said already that it takes a while', async () => {
    const { answerTo, told } = setUp()
    const { ephemeral: say } = answerTo({ origin: onHome, responseUrl: undefined, triggerId: 't1' })
    await say(answer)

    await say(answer)

    expect(told).toEqual([modal, modal, direct])
  })
})

describe('whether somebody was answered', () => {
  it('is known from the moment when the answer is on its way', async () => {
    const { answerTo } = setUp()
    const tracked = answerTo({ origin, responseUrl })
    const before = tracked.given()

    const answering = tracked.ephemeral(answer)
    const during = tracked.given()
    await answering

    expect([before, during, tracked.given()]).toEqual([false, true, true])
  })
})
