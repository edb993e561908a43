import { describe, expect, test } from 'vitest'
import { reportInWords } from '../../src/bolt/errors.ts'
import type { Filling } from '../../src/buttons/again-forms.ts'
import { ApiContractError, ApiError, ApiUnreachableError, CheckFailed, UserError } from '../../src/domain/errors.ts'
import { submitTyped } from '../../src/kit/change-feature.ts'
import { type Form, submitForm, text } from '../../src/kit/change-form.ts'
import { StartRefused } from '../../src/life/submit.ts'
import type { SubmitOutcome } from '../../src/messages/submit-words.ts'
import { ReasonRequired } from '../../src/rights/authorize.ts'
import { modal } from '../../src/slack/blocks.ts'
import type { Submission } from '../../src/slack/interactions.ts'
import { readMetadata, writeMetadata } from '../../src/slack/payloads.ts'
import { mrkdwn, toPlainText } from '../../src/slack/text.ts'
import { fakeApp } from '../fake-app.ts'
import { expectDocument } from '../messages/documents.ts'

const origin = { teamId: 'T0NIMBUS01', channelId: 'C0OPS00001', userId: 'U0ADA00001', command: '/infra' }
const change = { kind: 'ip.move' } as never
const posted: SubmitOutcome = {
  is: 'posted',
  requestId: 'r1',
  title: mrkdwn`Move`,
  channelId: 'C0OPS00001',
}
const typed = { origin, deliveryKey: 'd1', triggerId: 't1', responseUrl: 'https://hooks.slack.com/1', reason: 'OPS-123' }
const tryForm: Form<{ server: string }, object> = {
  callbackId: 'try',
  title: 'Try',
  about: 'server',
  fields: { server: text({ label: 'Server' }) },
  filled: () => ({}),
}

interface Slack {
  /** What `submit` throws. Default: the request is posted. */
  error?: unknown
  canOpen?: boolean
}

/** What was submitted, and which forms opened, with what they were filled. */
function start({ error, canOpen = true }: Slack = {}) {
  const submitted: unknown[] = []
  const opened: unknown[] = []
  const app = fakeApp({
    submit: async (requested) => {
      submitted.push(requested)
      if (error) throw error
      return posted
    },
    errors: { shownToPerson: () => {} },
    directory: { knownZone: () => undefined },
    slack: { messenger: { openView: async () => (canOpen ? { is: 'opened', viewId: 'V1' } : { is: 'unknown', problem: 'no answer' }) } },
  })
  const form = (metadata: string, { problem, ...filling }: Filling) => {
    opened.push({ ...filling, metadata: readMetadata(metadata), problem: problem?.text })
    return modal({ title: 'Move', blocks: [] })
  }
  const command = () => submitTyped(app, typed, { change, input: { server: 'web-2' }, form })
  const sent = {
    origin,
    deliveryKey: 'd1',
    metadata: writeMetadata({ origin, undoes: { id: 'r0' } }),
    values: { server: 'web-2', reason: 'maintenance' },
  }
  const send = () =>
    submitForm(app, tryForm, { change, findings: { fieldOf: () => undefined } }, {
      ...sent,
      chosen: {},
      ticked: {},
      blocks: [],
    } as unknown as Submission)
  return { submitted, opened, command, send }
}

test('a request of a command has its origin and reason', async () => {
  const { command, submitted } = start()

  expect(await command()).toBe(posted)
  expect(submitted).toEqual([{ change, input: { server: 'web-2' }, origin, deliveryKey: 'd1', reason: 'OPS-123' }])
})

test('a request of a form names the request that it undoes, and closes the form', async () => {
  const { send, submitted } = start()

  expect(await send()).toMatchObject({ is: 'accepted', title: 'Request sent' })
  expect(submitted).toMatchObject([{ input: { server: 'web-2' }, undoes: 'r0', reason: 'maintenance', deliveryKey: 'd1' }])
})

describe('a command without the reason that is required', () => {
  const draft = { input: { to: 'sv_2' }, facts: { address: '203.0.113.10' } }

  test.each([
    ['production', 'The rule “production” requires a reason. Nothing was requested yet.'],
    [undefined, 'The reason after *because* is missing. Nothing was requested yet.'],
  ])('opens its form filled (rule: %s)', async (rule, problem) => {
    const { command, opened } = start({ error: new ReasonRequired(rule === undefined ? undefined : { rule }, draft) })

    expect(await command()).toBeUndefined()
    const metadata = {
      origin,
      responseUrl: typed.responseUrl,
      reason: typed.reason,
      ...(rule !== undefined && { reasonTerms: { rule } }),
    }
    expect(opened).toMatchObject([{ metadata, ...draft, reason: undefined, problem }])
  })

  test('says what to type if the form cannot open, because the reads took too long', async () => {
    const { command } = start({ error: new ReasonRequired({ rule: 'production' }, draft), canOpen: false })

    await expect(command()).rejects.toThrow(
      'Not requested: the rule “production” requires a reason. Add it at the end of the command: *because* and the reason.',
    )
  })
})

const operation = 'elasticIps.get'
const unreachable = (problem: string, requestSent: 'no' | 'unknown' = 'unknown') =>
  new ApiUnreachableError({ operation, problem, requestSent })

describe('a request that is refused', () => {
  const refusals: Record<string, Error> = {
    'A check': new CheckFailed({ code: 'other-site' }, { why: 'It is in another site.' }),
    'A check that says it': new CheckFailed({ code: 'x' }, { why: 'It is too large, so nothing was requested.' }),
    'A look-up': new UserError('unknown-name', 'No server <web-2>.'),
    'An account API that is away': unreachable('ECONNREFUSED', 'no'),
    'No answer in time': unreachable('UND_ERR_HEADERS_TIMEOUT'),
    'A lost connection': unreachable('UND_ERR_SOCKET'),
    'An error of the account API': new ApiError({ operation, status: 503, codes: [] }),
    'A rejected key': new ApiError({ operation, status: 401, codes: [] }),
    'An unexpected answer': new ApiContractError({ operation, status: 200, problem: 'id: expected string' }),
    'A start': new StartRefused(mrkdwn`It isn't a time.`, mrkdwn`Write 22:00.`),
  }

  test('says so once, and why, as in submitted.md. A form stays open beside it', async () => {
    const reporting = fakeApp({ errors: { shownToPerson: () => {} } })
    const told = Object.entries(refusals).map(async ([by, error]): Promise<[string, string]> => {
      const refused = await start({ error })
        .command()
        .catch((thrown: unknown) => thrown)
      const ofCommand = toPlainText(await reportInWords(reporting, refused, { at: 'command ip move', origin: undefined }))

      const answer = await start({ error }).send()
      if (answer.is !== 'refused') throw new Error('it was not refused')
      const inForm = Object.entries(answer.problems).map(([at, problem]) => `the form, at ${at}: ${toPlainText(problem)}`)
      expect(JSON.stringify(answer.again(mrkdwn`Not so.`).blocks)).toContain('"initial_value":"web-2"')
      return [by, [`the command: ${ofCommand}`, ...inForm].join('\n')]
    })
    await expectDocument('submitted.md', 'A request that is refused', await Promise.all(told))
  })

  test('for its missing reason has the problem at that field', async () => {
    const error = new ReasonRequired({ rule: 'production' }, { input: {}, facts: {} })
    expect(await start({ error }).send()).toMatchObject({ problems: { reason: { text: 'The rule “production” requires a reason.' } } })
  })

  test('for no reason that people can act on throws', async () => {
    const defect = new TypeError('undefined is not a function')
    await expect(start({ error: defect }).send()).rejects.toBe(defect)
  })
})
