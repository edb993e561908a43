import { expect, test } from 'vitest'
import { alertsRequester } from '../../../../src/domain/approval.ts'
import type { Request } from '../../../../src/domain/request.ts'
import { lastChangeOf, warningWords } from '../../../../src/messages/warnings.ts'
import { moveChange } from '../../../../src/moves/move-change.ts'
import { viewOf } from '../../../../src/outbox/render.ts'
import { createCatalog } from '../../../../src/requests/catalog.ts'
import { fakeApp } from '../../../fake-app.ts'
import { minutes, moveFacts, requestedAt, requestFor, ruleFor } from '../../request-for-test.ts'

const app = fakeApp({
  catalog: createCatalog([moveChange({} as never)]),
  access: { ruleOf: () => ruleFor() },
  config: { environment: undefined, infra: { writesPerMinute: 20 } },
  slack: {
    identity: { profileOf: (userId) => `https://nimbus.slack.com/team/${userId}`, addressOf: () => undefined, linkTo: () => undefined },
  },
  signatures: { verifyRecord: () => 'genuine' },
})
const view = (request: Request) => viewOf(app, request)

const before = requestFor({ state: 'done', facts: moveFacts, endedAt: requestedAt })

/** What approvers see of a change that ended so long before the request. */
function shown(agoMs: number) {
  const warnings = [lastChangeOf(before, requestedAt + agoMs, ['203.0.113.10'])]
  const { checks, notes } = view(requestFor({ facts: moveFacts, warnings, personNames: { U0ADA00001: '@Ada' } }))
  return { checks: checks.map(({ text }) => text), notes: notes.map(({ text }) => text) }
}

test('a change of the last 24 hours is something to check first. Its requester is named with a link, because a mention would call them', () => {
  const ada = '<https://nimbus.slack.com/team/U0ADA00001|@Ada>'
  expect(shown(180 * minutes)).toEqual({
    checks: [`\`203.0.113.10\` was last changed 3 hours before this request, by ${ada}: Move \`203.0.113.10\`: \`web-1\` → \`web-2\`.`],
    notes: [],
  })
})

test('one of some minutes ago has its age in minutes', () => {
  expect(shown(4 * minutes + 23_000).checks).toEqual([expect.stringMatching(/was last changed 4 minutes before this request/)])
})

test('an older one is small print', () => {
  const { checks, notes } = shown(72 * 60 * minutes)

  expect(checks).toEqual([])
  expect(notes[0]).toMatch(/was last changed 3 days before this request/)
})

test('three addresses of an evacuation are named, and the others are counted', () => {
  const addresses = [10, 11, 12, 13].map((last) => `203.0.113.${last}`)
  const warnings = [lastChangeOf(before, requestedAt + minutes, addresses)]

  expect(view(requestFor({ facts: moveFacts, warnings })).checks.map(({ text }) => text)).toEqual([
    expect.stringMatching(/^`203.0.113.10`, `203.0.113.11`, `203.0.113.12` and 1 more were last changed 1 minute/),
  ])
})

test('a change that an alert requested is named as one of Alertmanager', () => {
  const change = { by: alertsRequester, requestId: 'a', kind: 'ip.move', resource: 'x', facts: {}, names: ['203.0.113.10'] }
  const { checks } = warningWords({ warnings: [{ code: 'last-change', agoMs: 60_000, ...change }], personNames: {} }, undefined, () => [
    'a change',
  ])

  expect(checks.map(({ text }) => text)).toEqual([expect.stringContaining('by Alertmanager')])
})
