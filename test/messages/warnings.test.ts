import { expect, test } from 'vitest'
import { alertsRequester } from '../../src/domain/approval.ts'
import type { Finding } from '../../src/domain/change.ts'
import type { PolicyRule } from '../../src/domain/policy.ts'
import type { Request } from '../../src/domain/request.ts'
import { explainEvacuation } from '../../src/features/moves/evacuation.ts'
import { moveChange } from '../../src/features/moves/move-change.ts'
import { lastChangeOf, rejectionOf, tooFewOthers, unableToConfirm, warningWords } from '../../src/messages/warnings.ts'
import { createCatalog } from '../../src/record/catalog.ts'
import { minutes, moveFacts, requestedAt, requestFor } from '../given/request.ts'
import { expectDocument } from './documents.ts'

const catalog = createCatalog([moveChange({} as never)])
const hours = 60 * minutes

/** What approvers see of these findings. People are named with a link, because a mention would call them. */
function shown(...warnings: (Finding | undefined)[]): string {
  return shownIn('waiting', warnings)
}

const asked: Pick<PolicyRule, 'confirmBy' | 'breakGlass'> = { confirmBy: 'passkey', breakGlass: true }

function shownIn(state: Request['state'], warnings: (Finding | undefined)[], rule = asked): string {
  const request = { state, warnings: warnings.flatMap((each) => each ?? []), personNames: { U0ADA00001: '@Ada', U0BEN00001: '@Ben' } }
  const profileOf = (userId: string) => `https://nimbus.slack.com/team/${userId}`
  const { checks, notes } = warningWords(request, { explain: explainEvacuation }, catalog.titleOf, {
    profileOf,
    rule,
  })
  return [...checks.map(({ text }) => `to check: ${text}`), ...notes.map(({ text }) => `small print: ${text}`)].join('\n')
}

const endedBefore = (more: Partial<Request>, ms = 12 * minutes) => requestFor({ facts: moveFacts, endedAt: requestedAt - ms, ...more })
const earlier = (more: Partial<Request>) => rejectionOf(endedBefore(more))
const start = requestedAt + 8 * hours
const changed = (ms: number, names = ['203.0.113.10']) => lastChangeOf(endedBefore({ state: 'done' }, ms), names)

const mayFinish = (names: string[]) => lastChangeOf(endedBefore({ state: 'untracked', sentAt: requestedAt - 20 * minutes }), names, true)

test('warnings of a request', async () => {
  const decision = { by: 'U0BEN00001', rule: 'changes', via: 'U0BEN00001', reason: 'Wait for the *sale*.' }
  const isOff = (last: number) => ({ code: 'not-active', address: `203.0.113.${last}`, status: 'error' })
  const address = 'https://nimbus.slack.com/archives/C0OPS00001/p1795316280000100'
  const title = 'Move 2 Elastic IPs: web-1 | <!here> → web-3'
  const locked = (last: number) => ({ code: 'locked', address: `203.0.113.${last}`, title, link: address, by: 'U0ADA00001' })
  const there = { server: 'web-3', title, link: address, by: 'U0ADA00001' }
  const isElsewhereNow = (last: number) => ({ code: 'server-changed', address: `203.0.113.${last}`, now: 'edge-ash-2' })
  const notChosen = { code: 'not-chosen', address: '203.0.113.12' }
  const isElsewhere = { code: 'not-on-server', address: '203.0.113.13', now: 'web-9' }
  const addresses = [10, 11, 12, 13].map((last) => `203.0.113.${last}`)

  await expectDocument('warnings.md', 'Warnings of a request', [
    ['The repeated request was rejected', shown(earlier({ state: 'rejected', decision }))],
    ['It was rejected without a reason', shown(earlier({ state: 'rejected', decision: { ...decision, reason: undefined } }))],
    ['It was rejected by the rules', shown(earlier({ state: 'rejected', decision: { rule: 'changes', via: 'S0ONCALL01' } }))],
    ['Somebody changed the same lately', shown(changed(3 * hours))],
    ['Some minutes ago', shown(changed(4 * minutes + 23_000))],
    ['Some days ago', shown(changed(72 * hours))],
    ['A change of several', shown(changed(minutes, addresses))],
    ['It was sent, and is no longer tracked', shown(mayFinish(['203.0.113.10']))],
    ['It was of several', shown(mayFinish(addresses.slice(1, 3)))],
    ['An alert changed it', shown({ ...changed(minutes), by: alertsRequester })],
    ['An evacuation leaves out what nobody wants to move', shown({ code: 'left-out', causes: [notChosen, isElsewhere] })],
    ['It leaves out what was to be moved', shown({ code: 'left-out', causes: [notChosen, isOff(14)] })],
    ['It leaves out what another request has locked', shown({ code: 'left-out', causes: [locked(14), locked(15)] })],
    ['That one is scheduled', shown({ code: 'left-out', causes: [{ ...locked(14), start }] })],
    ['The message of that one is not posted', shown({ code: 'left-out', causes: [{ ...locked(14), link: undefined }] })],
    ['It is elsewhere since', shown({ code: 'changed-outside', causes: [isElsewhereNow(10)] })],
    ['Several are', shown({ code: 'changed-outside', causes: [10, 11, 12, 13].map(isElsewhereNow) })],
    ['An alert is about the target', shown({ code: 'target-alerted', target: 'standby-ash', since: requestedAt - 4 * minutes })],
    ['It does not say since when', shown({ code: 'target-alerted', target: 'standby-ash' })],
    ['It has resolved', shown({ code: 'target-alerted', target: 'standby-ash', since: requestedAt - 4 * minutes, until: requestedAt })],
    ['The target is being evacuated', shown({ ...there, code: 'target-evacuated' })],
    ['Open requests move to the server that is evacuated', shown({ ...there, code: 'also-a-target', others: 2 })],
    ['An approver has no passkey', shown(...unableToConfirm('passkey', ['U0BEN00001']))],
    ['Four have none', shown(...unableToConfirm('passkey', ['U0ADA00001', 'U0BEN00001', 'U0CHI00001', 'U0DOV00001']))],
    ['Too few others can approve', shown(...tooFewOthers(true, 'U0ADA00001'))],
  ])
  for (const state of ['failed', 'expired', 'withdrawn', 'voided'] as const) expect(earlier({ state })).toBeUndefined()
  // Once it is approved, nobody has to confirm it anymore.
  for (const state of ['approved', 'done'] as const) expect(shownIn(state, unableToConfirm('passkey', ['U0BEN00001']))).toBe('')
  const alone = tooFewOthers(true, 'U0ADA00001')
  expect(shownIn('approved', alone)).toBe('')
  expect(shownIn('waiting', alone, { confirmBy: undefined, breakGlass: false })).toBe('')
})
