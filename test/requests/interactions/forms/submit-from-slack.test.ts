import type { ModalView } from '@slack/web-api'
import { describe, expect, it } from 'vitest'
import { ApiContractError, ApiError, ApiUnreachableError, CheckFailed, UserError } from '../../../../src/domain/errors.ts'
import { ReasonRequired } from '../../../../src/requests/access.ts'
import { type Filling, submitFromCommand, submitFromForm, submitTyped } from '../../../../src/requests/forms.ts'
import type { Submit } from '../../../../src/requests/submit.ts'
import { modal } from '../../../../src/slack/blocks.ts'
import type { CommandCall } from '../../../../src/slack/commands.ts'
import { explain, Refusal, toUserMessage } from '../../../../src/slack/errors.ts'
import type { Submission } from '../../../../src/slack/interactions.ts'
import { readMetadata, writeMetadata } from '../../../../src/slack/payloads.ts'
import { type Mrkdwn, mrkdwn } from '../../../../src/slack/text.ts'
import { fakeApp } from '../../../fake-app.ts'

const origin = { teamId: 'T0NIMBUS01', channelId: 'C0OPS00001', userId: 'U0ADA00001', command: '/infra' }
const change = { kind: 'ip.move' } as never
const sent = {
  is: 'posted',
  requestId: 'r1',
  title: mrkdwn`Move`,
  channelId: 'C0OPS00001',
  asked: undefined,
  handoverLabel: undefined,
} as const
const again = (problem: Mrkdwn): ModalView => ({ type: 'modal', title: { type: 'plain_text', text: problem.text }, blocks: [] })

const neverOpened = async () => expect.fail('a form opened')
const neverShown = () => expect.fail('a form was rendered')

function refuseWith(error: unknown): Submit {
  return async () => {
    throw error
  }
}

const call = {
  slashCommand: { origin, deliveryKey: 'd1', triggerId: 't1', responseUrl: 'https://hooks.slack.com/1' },
  say: async () => expect.fail('something was said'),
} as unknown as CommandCall

describe('a request that a check refuses', () => {
  const refused = new CheckFailed({ code: 'other-site' }, { why: 'It is in another site.' })
  const requested = { change, input: {}, form: neverShown }

  it('says after a command that nothing was requested, once', async () => {
    const answerTo = async (error: unknown) => {
      const thrown = await submitTyped({ submit: refuseWith(error), openForm: neverOpened }, call.slashCommand, requested).catch(
        (it: unknown) => it,
      )
      return toUserMessage(thrown)
    }
    const saysItself = new CheckFailed({ code: 'x' }, { why: 'It is too large, so nothing was requested.' })

    expect(await answerTo(refused)).toBe('It is in another site. Nothing was requested.')
    expect(await answerTo(saysItself)).toBe('It is too large, so nothing was requested.')
  })

  it('says in a form only why, because the form stays open', async () => {
    const submission = { origin, metadata: '', deliveryKey: 'd1' } as Submission
    const answer = await submitFromForm(refuseWith(refused), submission, { change, input: {}, reason: undefined, blockId: 'server', again })

    expect(answer).toMatchObject({ is: 'refused', problems: { server: { text: 'It is in another site.' } } })
  })
})

describe('a request from a command', () => {
  it('is submitted with its origin, and the requester gets the outcome', async () => {
    const submitted: unknown[] = []
    const said: string[] = []
    const submit = (async (requested: unknown) => {
      submitted.push(requested)
      return sent
    }) as Submit
    const call = { slashCommand: { origin, deliveryKey: 'd1', reason: 'OPS-123' }, say: async ({ text }: Mrkdwn) => void said.push(text) }

    await submitFromCommand({ submit, openForm: neverOpened }, call as unknown as CommandCall, {
      change,
      input: { to: 'web-2' },
      form: neverShown,
    })

    expect(submitted).toEqual([{ change, input: { to: 'web-2' }, origin, deliveryKey: 'd1', reason: 'OPS-123' }])
    expect(said).toEqual(['Request posted in <#C0OPS00001>: “Move”. No approval needed. The result will be in its thread.'])
  })

  const draft = { input: { to: 'sv_2' }, facts: { address: '203.0.113.10' } }
  const lacking = refuseWith(new ReasonRequired('production', draft))

  it('opens its form filled if the rule requires a reason and none was typed', async () => {
    const filled: unknown[] = []
    const opened: unknown[] = []
    const form = (metadata: string, filling: Filling) => {
      filled.push({ metadata: readMetadata(metadata), ...filling, problem: filling.problem?.text })
      return modal({ title: 'Move', blocks: [] })
    }
    const openForm = async (triggerId: string) => void opened.push(triggerId)

    await submitFromCommand({ submit: lacking, openForm }, call, { change, input: {}, form })

    expect(opened).toEqual(['t1'])
    expect(filled).toEqual([
      {
        metadata: { version: 1, origin, responseUrl: 'https://hooks.slack.com/1', ruleWithReason: 'production' },
        ...draft,
        reason: undefined,
        problem: 'The rule “production” requires a reason. Nothing was requested yet.',
      },
    ])
  })

  it('opens its form filled if the command ended with because', async () => {
    const filled: unknown[] = []
    const form = (metadata: string, { problem }: Filling) => {
      filled.push({ rule: readMetadata(metadata)?.ruleWithReason, problem: problem?.text })
      return modal({ title: 'Move', blocks: [] })
    }

    await submitFromCommand({ submit: refuseWith(new ReasonRequired(undefined, draft)), openForm: async () => {} }, call, {
      change,
      input: {},
      form,
    })

    expect(filled).toEqual([{ rule: undefined, problem: 'The reason after *because* is missing. Nothing was requested yet.' }])
  })

  it('is refused with what to type if the form cannot open, because the reads took too long', async () => {
    const openForm = async () => {
      throw new Refusal(mrkdwn`Slack did not open the form in time.`)
    }
    const form = () => modal({ title: 'Move', blocks: [] })

    await expect(submitFromCommand({ submit: lacking, openForm }, call, { change, input: {}, form })).rejects.toThrow(
      'The rule “production” requires a reason. Nothing was requested. Add it at the end of the command: *because* and the reason.',
    )
  })
})

/** What keeps a request from being made where the account API does not answer as it should. */
const away: [string, unknown, string][] = [
  [
    'was not reached',
    new ApiUnreachableError({ operation: 'elasticIps.get', problem: 'ECONNREFUSED', requestSent: 'no' }),
    "Couldn't reach the account API. Nothing was requested. Try again in a minute. If it lasts, run the doctor command.",
  ],
  [
    'gave no answer in time',
    new ApiUnreachableError({ operation: 'elasticIps.get', problem: 'UND_ERR_HEADERS_TIMEOUT', requestSent: 'unknown' }),
    "The account API didn't answer in time. Nothing was requested. Try again in a minute. If it lasts, check the account API's status page, or run the doctor command.",
  ],
  [
    'dropped the connection',
    new ApiUnreachableError({ operation: 'elasticIps.get', problem: 'UND_ERR_SOCKET', requestSent: 'unknown' }),
    "The connection to the account API was lost. Nothing was requested. Try again in a minute. If it lasts, check the account API's status page, or run the doctor command.",
  ],
  [
    'returned an error',
    new ApiError({ operation: 'elasticIps.get', status: 503, codes: [] }),
    'The account API returned an error (503). Nothing was requested. Try again in a minute.',
  ],
  [
    'rejects the key',
    new ApiError({ operation: 'elasticIps.get', status: 401, codes: [] }),
    "The account API rejects Lockkeeper's API key (401). Nothing was requested. The people who run Lockkeeper must set a valid INFRA_API_KEY.",
  ],
  [
    'returned something unexpected',
    new ApiContractError({ operation: 'elasticIps.get', status: 200, problem: 'id: expected string' }),
    'The account API returned an unexpected answer. Nothing was requested. Tell the people who run Lockkeeper. The log has the details.',
  ],
]

describe('while the account API is away, a person reads that nothing was requested, why, and what to do', () => {
  it.each(away)('because it %s: after a command', async (_, error, words) => {
    const reported: unknown[] = []
    const refused = await submitTyped({ submit: refuseWith(error), openForm: neverOpened }, call.slashCommand, {
      change,
      input: {},
      form: neverShown,
    }).catch((thrown: unknown) => thrown)

    const app = fakeApp({ errors: { shownToPerson: (thrown) => void reported.push(thrown) } })
    expect(explain(app, refused, 'command ip move').text).toBe(words)
    expect(reported).toEqual([error])
  })

  it.each(away)('because it %s: in the form', async (_, error, words) => {
    expect(await submitForm(refuseWith(error))).toMatchObject({ is: 'refused', problems: { server: { text: words } } })
  })
})

const submitForm = (submit: Submit, blockId: string | ((error: unknown) => string) = 'server') =>
  submitFromForm(submit, { origin, deliveryKey: 'd1', metadata: writeMetadata({ origin, undoes: { id: 'r0' } }) } as Submission, {
    change,
    input: {},
    reason: 'maintenance',
    blockId,
    again,
  })

describe('a request from a form', () => {
  it('closes the form when it is accepted', async () => {
    expect(await submitForm(async () => sent)).toMatchObject({ is: 'accepted' })
  })

  it('keeps the form open with a refusal at its field', async () => {
    const answer = await submitForm(refuseWith(new UserError('No server <web-2>.')))

    expect(answer).toMatchObject({ is: 'refused', problems: { server: { text: 'No server &lt;web-2&gt;.' } } })
    expect(answer.is === 'refused' && answer.again(mrkdwn`No server.`).title.text).toBe('No server.')
  })

  it('names the request that it undoes', async () => {
    const submitted: unknown[] = []
    await submitForm((async (requested: unknown) => {
      submitted.push(requested)
      return sent
    }) as Submit)

    expect(submitted).toMatchObject([{ undoes: 'r0', reason: 'maintenance' }])
  })

  it('is refused at the field of the reason if the rule requires one', async () => {
    const answer = await submitForm(refuseWith(new ReasonRequired('production', { input: {}, facts: {} })))

    expect(answer).toMatchObject({
      is: 'refused',
      problems: { reason: { text: 'The rule “production” requires a reason.' } },
    })
  })

  it('can choose the field by the refusal', async () => {
    const fieldOf = (error: unknown) => (error instanceof UserError ? 'new-name' : 'virtual-machine')
    expect(await submitForm(refuseWith(new UserError('Too long.')), fieldOf)).toMatchObject({ is: 'refused', problems: { 'new-name': {} } })
  })

  it('throws an error that is not a refusal', async () => {
    const defect = new TypeError('undefined is not a function')
    await expect(submitForm(refuseWith(defect))).rejects.toBe(defect)
  })
})
