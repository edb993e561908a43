import type { ModalView } from '@slack/web-api'
import { describe, expect, it } from 'vitest'
import { answerTo as answerToPlace } from '../../src/slack/answers.ts'
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
function setUp({ broken = [] as ('respond' | 'ephemeral' | 'modal' | 'direct')[] } = {}) {
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
        sent.push({ by: 'respond', url, text: 'text' in message ? message.text : '', replaceOriginal })
        return broken.includes('respond') ? refused : { is: 'sent' }
      },
    },
    errors: { shownToPerson: (error, context) => void errors.push([error, context]) },
  })
  const answerTo = (place: Parameters<typeof answerToPlace>[1]) => answerToPlace(app, place)
  return { answerTo, sent, errors }
}

const text = answer.text
const respond = { by: 'respond', url: responseUrl, text, replaceOriginal: false }
const ephemeral = { by: 'ephemeral', where: ['C0OPS00001', 'U0BEN00001'], text }
const direct = { by: 'direct', to: 'U0BEN00001', text }

describe('an answer in a channel', () => {
  it('begins with what the click was about, unless the message names it', async () => {
    const { answerTo, sent } = setUp()
    const given = answerTo({ origin, responseUrl, triggerId: 't1' })

    given.about(mrkdwn`*Move 203.0.113.10*`)
    await given.ephemeral(answer)
    await given.ephemeral(answer, { isWhole: true })

    expect(sent).toEqual([{ ...respond, text: `*Move 203.0.113.10*\n${text}` }, respond])
  })

  it.each([
    ['through the response URL', [], [respond]],
    ['as an ephemeral message if the response URL is used up', ['respond'], [respond, ephemeral]],
    ['as a direct message if both fail', ['respond', 'ephemeral'], [respond, ephemeral, direct]],
  ] as const)('is sent %s', async (_, broken, expected) => {
    const { answerTo, sent, errors } = setUp({ broken: [...broken] })

    await answerTo({ origin, responseUrl, triggerId: 't1' }).ephemeral(answer)

    expect(sent).toEqual(expected)
    expect(errors).toEqual([])
  })

  it('is sent as an ephemeral message if there is no response URL, and never opens a modal', async () => {
    const { answerTo, sent } = setUp({ broken: ['ephemeral'] })

    await answerTo({ origin, responseUrl: undefined, triggerId: 't1' }).ephemeral(answer)

    expect(sent).toEqual([ephemeral, direct])
  })

  it('can replace the message that was clicked', async () => {
    const { answerTo, sent } = setUp()

    await answerTo({ origin, responseUrl }).replace(answer)

    expect(sent).toEqual([{ ...respond, replaceOriginal: true }])
  })

  it('is reported as an error, and does not throw, if every way fails', async () => {
    const { answerTo, errors } = setUp({ broken: ['respond', 'ephemeral', 'direct'] })

    await answerTo({ origin, responseUrl }).ephemeral(answer)

    expect(errors).toEqual([
      [new Error('an answer could not be delivered: {"is":"refused","error":"channel_not_found"}'), { at: 'answer' }],
    ])
  })
})

describe('an answer after an interim one', () => {
  const interim = notice(mrkdwn`Slower than usual. The result follows.`)

  it('replaces it after a command', async () => {
    const { answerTo, sent } = setUp()
    const { interim: sayInterim, ephemeral: show } = answerTo({ origin, responseUrl })

    const saying = sayInterim(interim)
    await show(answer)
    await saying
    await show(answer)

    expect(sent).toEqual([{ ...respond, text: interim.text }, { ...respond, replaceOriginal: true }, respond])
  })

  it('does not replace the message that was clicked', async () => {
    const { answerTo, sent } = setUp()
    const { interim: sayInterim, ephemeral: show } = answerTo({ origin, responseUrl, isClick: true })

    await sayInterim(interim)
    await show(answer)

    expect(sent).toEqual([{ ...respond, text: interim.text }, respond])
  })
})

describe('a result that shows elsewhere', () => {
  it('counts as an answer, so that no interim one follows', () => {
    const { answerTo, sent } = setUp()
    const tracked = answerTo({ origin, responseUrl, isClick: true })

    tracked.elsewhere()

    expect([tracked.given(), sent]).toEqual([true, []])
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

  it('is shown in a modal', async () => {
    const { answerTo, sent } = setUp()

    await answerTo({ origin: onHome, responseUrl: undefined, triggerId: 't1' }).ephemeral(answer)

    expect(sent).toEqual([modal])
  })

  it.each([
    ['the trigger has expired', 't1', ['modal'], [modal, direct]],
    ['there is no trigger', '', [], [direct]],
  ] as const)('is sent as a direct message if %s', async (_, triggerId, broken, expected) => {
    const { answerTo, sent, errors } = setUp({ broken: [...broken] })

    await answerTo({ origin: onHome, responseUrl: undefined, triggerId }).ephemeral(answer)

    expect(sent).toEqual(expected)
    expect(errors).toEqual([])
  })

  it('is sent as a direct message if a modal already shows an interim answer', async () => {
    const { answerTo, sent } = setUp()
    const { ephemeral: show } = answerTo({ origin: onHome, responseUrl: undefined, triggerId: 't1' })
    await show(answer)

    await show(answer)

    expect(sent).toEqual([modal, modal, direct])
  })
})

describe('an answer that is still being sent', () => {
  it('counts as given', async () => {
    const { answerTo } = setUp()
    const tracked = answerTo({ origin, responseUrl })
    const before = tracked.given()

    const answering = tracked.ephemeral(answer)
    const during = tracked.given()
    await answering

    expect([before, during, tracked.given()]).toEqual([false, true, true])
  })
})
