import { describe, expect, test } from 'vitest'
import type { z } from 'zod'
import { alertsRequester, Denial } from '../../src/domain/approval.ts'
import type { Finding, Words } from '../../src/domain/change.ts'
import { toGroup } from '../../src/domain/policy.ts'
import { type Request, scheduleOf } from '../../src/domain/request.ts'
import { newKeyFindings } from '../../src/features/keys/create.ts'
import { rotationFindings } from '../../src/features/keys/rotate.ts'
import { evacuationFindings } from '../../src/features/moves/evacuation.ts'
import { type MoveFinding, moveFindings, moveWords } from '../../src/features/moves/move-checks.ts'
import { renameFindings } from '../../src/features/vm-rename.ts'
import { damagedAudit, lostRecord, safeRedis, undeliverable, unsafeRedis } from '../../src/messages/operator-notices.ts'
import { whoApproves } from '../../src/messages/request-words.ts'
import { othersAreOpen, type SubmitOutcome, submittedWords } from '../../src/messages/submit-words.ts'
import {
  type CommonFinding,
  denialWords,
  findingWords,
  CommonFinding as schemaOfCommon,
  tooLate,
  wordsOfFindings,
} from '../../src/messages/why-not.ts'
import { mrkdwn } from '../../src/slack/text.ts'
import { terms } from '../given/people.ts'
import { description, requestedAt, requestFor } from '../given/request.ts'
import { expectDocument } from './documents.ts'

const address = '203.0.113.10'
const server = 'web-2'

/**
 * Puts each finding into words, one per line. Fails if an example does not fit its schema. Findings that are declared as a sentence have no
 * example: the declaration says it all.
 */
function wordsOf<Known extends Finding>(schema: z.ZodDiscriminatedUnion, examples: Known[], words: (finding: Known) => Words): string {
  return examples
    .map((example) => words(schema.parse(example) as Known))
    .map(({ why, next }) => (next === undefined ? why : `${why} → ${next || 'nothing to do'}`))
    .join('\n')
}

const ofMove: MoveFinding[] = [
  { code: 'no-elastic-ip', elasticIpId: 'eip_1' },
  { code: 'no-server', serverId: 'sv_1' },
  { code: 'already-moving', address },
  { code: 'not-active', address, status: 'error' },
  { code: 'not-active', address, status: 'configuring' },
  { code: 'other-site', address, site: 'ASH', server, serverSite: 'FRA' },
  { code: 'project-not-compared', server },
  { code: 'site-not-compared', server },
  { code: 'server-deletion-scheduled', server, at: Date.UTC(2026, 11, 1, 9, 30) },
  { code: 'same-name', server, serverId: 'sv_2', others: ['sv_9'], count: 1 },
  { code: 'same-name', server, serverId: 'sv_2', others: ['sv_7', 'sv_8', 'sv_9'], count: 5 },
  { code: 'moved-by-others', address, server: 'web-3', isMoving: false },
  { code: 'moved-by-others', address, server: 'web-3', isMoving: true },
]

const openRequest = { title: 'Evacuate web-9 → web-1', link: undefined, by: 'U0ADA00001' }
const isOff = { code: 'not-active', address, status: 'error' }
const elsewhere = { code: 'not-on-server', address, now: 'web-9' }
const ofEvacuation: z.infer<typeof evacuationFindings.schema>[] = [
  { code: 'nothing-on-server', server, bgp: [] },
  { code: 'nothing-on-server', server, bgp: [address] },
  {
    code: 'nothing-on-server',
    server,
    bgp: [],
    moves: [{ ...openRequest, isAway: false, isUnsent: false, state: 'moving, 1 of 4 moved' }],
  },
  { code: 'nothing-on-server', server, bgp: [], moves: [{ ...openRequest, isAway: true, isUnsent: false, state: 'moving' }] },
  { code: 'too-many-addresses', server, count: 51 },
  { code: 'addresses-cannot-move', target: server, moves: 2, causes: [isOff] },
  { code: 'addresses-cannot-move', target: server, moves: 0, causes: [isOff, { ...isOff, address: '203.0.113.11' }] },
  { code: 'addresses-cannot-move', target: server, moves: 0, causes: [{ code: 'locked', address, ...openRequest }] },
  { code: 'addresses-cannot-move', target: server, moves: 0, causes: [{ code: 'locked', address, ...openRequest, going: 'moving' }] },
  { code: 'left-out', causes: [{ code: 'not-chosen', address }] },
  { code: 'left-out', causes: [isOff, { code: 'not-chosen', address: '203.0.113.11' }] },
  { code: 'last-seen', server, count: 1, oldest: requestedAt },
  { code: 'last-seen', server, count: 3, oldest: requestedAt },
  { code: 'seen-long-ago', address, server, at: requestedAt },
  { code: 'seen-long-ago', address, server, at: requestedAt, isSent: true },
  { code: 'not-seen-there', address, server },
  { code: 'came-later', address, server },
  { code: 'nothing-left', causes: [elsewhere] },
  { code: 'nothing-left', causes: [elsewhere, { code: 'gone', address: '203.0.113.11' }] },
]

const virtualMachineId = 'vm_1'
const ofRename: z.infer<typeof renameFindings.schema>[] = [
  { code: 'no-virtual-machine', virtualMachineId },
  { code: 'not-a-hostname', problem: 'The new name is empty.' },
  { code: 'namesakes', name: 'web-2', others: ['vm_9'], count: 1 },
  { code: 'namesakes', name: 'web-2', others: ['vm_7', 'vm_8', 'vm_9'], count: 4 },
  { code: 'renamed-by-others', name: 'web-1', now: 'web-3' },
]

const ofNewKey: z.infer<typeof newKeyFindings.schema>[] = [
  { code: 'name-taken', name: 'ci-deploy' },
  { code: 'namesakes', name: 'ci-deploy', others: ['…a1b2c'], count: 1 },
  { code: 'created-unseen', resourceId: 'tok_1' },
  { code: 'retracted', resourceId: 'tok_1', because: 'not-shown' },
  { code: 'retracted', resourceId: 'tok_1', because: 'too-slow' },
]

const ofKey: z.infer<typeof rotationFindings.schema>[] = [
  { code: 'no-key', keyId: 'tok_1', verb: 'rotate' },
  { code: 'own-key', verb: 'rotate' },
  { code: 'perhaps-own-key', name: 'ci-deploy' },
  { code: 'key-unread', keyId: 'tok_1' },
  { code: 'key-unread', keyId: 'tok_1', called: 'ci-deploy (…x7Qz1)' },
  { code: 'token-stops', verb: 'rotate' },
  { code: 'token-stops', verb: 'revoke' },
  { code: 'key-history', readAt: Date.parse('2026-11-18T14:00:00Z'), usedAgoMs: 300_000, ageMs: 86_400_000, creator: 'U0ADA00001' },
  { code: 'key-history', readAt: 0 },
  { code: 'key-history', readAt: Date.parse('2026-11-18T14:00:00Z'), ageMs: 86_400_000, changedAgoMs: 600_000 },
  { code: 'key-changed', what: 'access', before: 'read-only', now: 'full access' },
  { code: 'retracted', because: 'not-shown' },
]

const refused = { operation: 'elasticIps.move', status: 422, codes: ['SERVER_NETWORK_INCOMPATIBLE'] }
const ofAny: CommonFinding[] = [
  { code: 'api-refused', ...refused, effect: 'not-changed' },
  { code: 'api-refused', ...refused, codes: [], detail: 'No such thing', effect: 'not-sent' },
  { code: 'api-unreachable', effect: 'not-sent' },
  { code: 'api-unreachable', effect: 'not-made' },
  { code: 'account-unread' },
  { code: 'account-unread', refusal: { operation: 'elasticIps.get', status: 401, codes: [] } },
  { code: 'approved-too-long-ago' },
  { code: 'frozen-too-long' },
  { code: 'window-missed' },
  { code: 'requester-lost-right' },
  { code: 'approvals-lost' },
  { code: 'rights-unknown' },
  { code: 'limit-used-up' },
  { code: 'record-changed' },
  { code: 'record-unverified' },
  { code: 'unknown-key' },
  { code: 'approvals-not-genuine' },
  { code: 'already-sent' },
  { code: 'already-ended' },
  { code: 'approval-needed-now' },
  { code: 'confirmation-needed-now' },
  { code: 'confirmation-lost' },
  { code: 'end-not-allowed' },
  { code: 'rule-gone' },
  { code: 'data-lost' },
  { code: 'set-back' },
  { code: 'freeze-missing' },
  { code: 'freeze-older' },
  { code: 'freeze-forged' },
  { code: 'changed-by-another' },
  { code: 'not-used' },
  { code: 'not-posted', error: 'is_archived' },
  { code: 'alert-resolved' },
  { code: 'machine-gone' },
  { code: 'approvers-unknown' },
  { code: 'channel-unreadable' },
]

/** One denial per code. A new code does not compile until it has one here. */
const denials: Record<Denial['code'], Denial> = {
  guest: { code: 'guest', action: 'read' },
  bot: { code: 'bot', action: 'request' },
  deactivated: { code: 'deactivated', action: 'decide' },
  'other-workspace': { code: 'other-workspace', action: 'read' },
  'shared-channel': { code: 'shared-channel', action: 'request' },
  'person-unknown': { code: 'person-unknown', action: 'decide' },
  'channel-unknown': { code: 'channel-unknown', action: 'read' },
  'direct-message': { code: 'direct-message' },
  'not-in-channel': { code: 'not-in-channel' },
  'foreign-channel': { code: 'foreign-channel' },
  'no-rule': { code: 'no-rule', kind: 'ip.move', channels: ['C0OPS00001', 'C0GENERAL1'] },
  'project-unknown': { code: 'project-unknown', rule: 'production' },
  'no-emergency': { code: 'no-emergency', rule: 'production' },
  'not-a-requester': { code: 'not-a-requester', requesters: toGroup(['U0ADA00001', 'S0ONCALL01']) },
  'not-named-by-rule': { code: 'not-named-by-rule', rule: 'production' },
  'alerts-need-approval': { code: 'alerts-need-approval', rule: 'staging' },
  'keys-need-people': { code: 'keys-need-people' },
  'not-involved': { code: 'not-involved', requester: 'U0ADA00001', approvers: terms(['U0BEN00001', 'S0ONCALL01'], { approvals: 2 }) },
  'not-an-approver': { code: 'not-an-approver', approvers: terms(['U0BEN00001', 'S0ONCALL01'], { approvals: 2 }) },
  'not-a-freezer': { code: 'not-a-freezer', freezers: toGroup(['U0BEN00001', 'S0ONCALL01']) },
  'too-few-approvers': { code: 'too-few-approvers', rule: 'production', needed: 2 },
  'group-unknown': { code: 'group-unknown' },
  'own-request': { code: 'own-request' },
  'rule-gone': { code: 'rule-gone' },
  'only-requester-may-issue': { code: 'only-requester-may-issue', requester: 'U0ADA00001' },
  'only-involved-may-withdraw': { code: 'only-involved-may-withdraw', requester: 'U0ADA00001', approvers: terms(['S0ONCALL01']) },
  'only-requester-may-withdraw': { code: 'only-requester-may-withdraw', requester: 'U0ADA00001' },
  'only-requester-may-break-glass': { code: 'only-requester-may-break-glass', requester: 'U0ADA00001' },
  'stale-card': { code: 'stale-card' },
  'foreign-button': { code: 'foreign-button' },
  'unknown-request': { code: 'unknown-request' },
  'record-changed': { code: 'record-changed' },
  'freeze-over': { code: 'freeze-over' },
  'freeze-unreadable': { code: 'freeze-unreadable' },
  'unknown-key': { code: 'unknown-key' },
  'other-version': { code: 'other-version' },
}

/** What else is said of a denial, depending on its content. */
const otherDenials: Denial[] = [
  { code: 'no-rule', kind: 'ip.move', channels: ['C0OPS00001'] },
  { code: 'no-rule', kind: 'ip.move', channels: [] },
  { code: 'not-a-requester', requesters: toGroup([]) },
  { code: 'not-a-freezer', freezers: toGroup([]) },
  { code: 'shared-channel', action: 'freeze' },
  { code: 'too-few-approvers', rule: 'failover', needed: 2, requester: alertsRequester },
  { code: 'too-few-approvers', rule: 'keys', needed: 1, confirm: { by: 'passkey', others: toGroup(['U0BEN00001', 'S0ONCALL01']) } },
  { code: 'only-requester-may-break-glass', requester: alertsRequester },
  { code: 'only-requester-may-break-glass', requester: 'machine:ci' },
  { code: 'not-named-by-rule', rule: 'production', machine: 'machine:ci' },
  { code: 'alerts-need-approval', rule: 'staging', machine: 'machine:ci' },
  { code: 'not-involved', requester: 'machine:ci', approvers: terms(['S0ONCALL01']) },
  { code: 'project-unknown', rule: '<!channel> & co' },
]

const labelOf = (kind: string) => (kind === 'ip.move' ? 'moving an Elastic IP' : kind)
const denied = (all: Denial[]) => all.map((denial) => `${denial.code}: ${denialWords(denial, labelOf, '/infra')}`).join('\n')

const byAlert = (state: Request['state']) =>
  requestFor({ origin: { ...requestFor().origin, userId: alertsRequester }, state, reason: 'web-1 is down', alert: { name: 'NodeDown' } })
const holding = (state: Request['state'], holds: string[]) => ({ holder: byAlert(state), link: undefined, title: description.title, holds })
const held = [holding('waiting', [address]), holding('tracking', ['203.0.113.11', '203.0.113.12'])]

const scheduled = requestFor({ start: Date.UTC(2026, 11, 1, 6) })

const notices = [
  undeliverable(requestFor({ state: 'done' }), 'is_archived', '/infra-staging'),
  lostRecord(requestFor().id, '/infra-staging'),
  unsafeRedis(["Redis doesn't write changes to disk (appendonly no). Set appendonly yes."]),
  safeRedis,
  damagedAudit("Entry 2 is not genuine: its signature doesn't match.", true),
  damagedAudit('Entry 1 seems to be older than its note.', false),
]

const submitted = (more: Partial<SubmitOutcome>) =>
  submittedWords({
    is: 'posted',
    requestId: '',
    title: mrkdwn`Move 203.0.113.10: web-1 → web-2`,
    channelId: 'C0OPS00001',
    ...more,
  })
const outcomes = [{}, { is: 'card-delayed' as const }]

const approvers = [
  terms(['U0BEN00001']),
  terms(['S0ONCALL01', 'U0BEN00001', 'U0CHI00001']),
  terms(['U0BEN00001', 'S0ONCALL01'], { approvals: 2 }),
  terms([], { allOf: ['S0NET00001', 'S0SEC00001', 'U0BEN00001'] }),
  terms(['U0CHI00001', 'U0DEE00001'], { allOf: ['S0NET00001'], approvals: 2 }),
  terms([]),
]

test('findings, denials and notices read as in why-not.md', async () => {
  await expectDocument('why-not.md', 'Findings, denials and notices to the operators', [
    ['Findings of a move', wordsOf(moveFindings.schema as never, ofMove, moveWords)],
    ['Findings of an evacuation', wordsOf(evacuationFindings.schema as never, ofEvacuation, evacuationFindings.words)],
    ['Findings of a rename', wordsOf(renameFindings.schema as never, ofRename, renameFindings.words)],
    ['Findings of a new key', wordsOf(newKeyFindings.schema as never, ofNewKey, newKeyFindings.words)],
    ['Findings of a rotation and a revocation', wordsOf(rotationFindings.schema as never, ofKey, rotationFindings.words)],
    ['Findings of any request', wordsOf(schemaOfCommon, ofAny, (finding) => findingWords(undefined, finding))],
    ['Denials', denied(Object.values(denials))],
    ['Denials with other content', denied(otherDenials)],
    [
      "An alert's request",
      [
        tooLate(byAlert('withdrawn'), 'U0BEN00001').words,
        othersAreOpen(held.slice(0, 1), 'U0BEN00001'),
        othersAreOpen(held.slice(0, 1), 'U0BEN00001', { mayDecide: true }),
        othersAreOpen(held, 'alerts', { canLeaveOut: true }),
      ].join('\n'),
    ],
    [
      'Addresses were sent without an answer',
      othersAreOpen([{ ...holding('untracked', [address]), freeAt: Date.UTC(2026, 11, 1, 6) }], 'U0BEN00001', { canLeaveOut: true }).text,
    ],
    [
      'Another one is scheduled, held or sent',
      [scheduled, { ...scheduled, state: 'approved' as const }, { ...scheduled, state: 'starting' as const }]
        .flatMap((holder) =>
          ['U0BEN00001', holder.origin.userId].map((viewer) =>
            othersAreOpen([{ ...holding('waiting', [address]), holder, waits: scheduleOf(holder) }], viewer),
          ),
        )
        .concat(
          othersAreOpen(
            [scheduled, { ...byAlert('approved') }].map((holder) => ({
              ...holding('waiting', [address]),
              holder,
              waits: scheduleOf(holder),
            })),
            'U0BEN00001',
          ),
        )
        .join('\n'),
    ],
    ['After a request', outcomes.map(submitted).join('\n')],
    ['Who approves', approvers.map(whoApproves).join('\n')],
    ['Notices to the operators', notices.join('\n')],
  ])
})

test('every finding of any request has an example', () => {
  const codes = schemaOfCommon.options.flatMap(({ shape }) => [...shape.code.values])
  expect([...new Set(ofAny.map(({ code }) => code))].toSorted()).toEqual(codes.toSorted())
})

describe('a finding that this version does not know', () => {
  test('is shown by its code, and so is a known code with unknown content', () => {
    expect(findingWords(undefined, { code: 'of-another-version', server })).toEqual({ why: 'of-another-version.' })
    expect(findingWords(undefined, { code: 'api-refused', status: 'gone' })).toEqual({ why: 'api-refused.' })
  })

  test('is shown beside known ones, and the next step is given once', () => {
    const known = { code: 'known' }
    const change = { explain: ({ code }: Finding) => (code === 'known' ? { why: 'It is gone.', next: 'Ask for another.' } : undefined) }
    expect(wordsOfFindings(change, [known, { code: 'not-known' }, known])).toEqual({
      why: 'It is gone. not-known. It is gone.',
      phrase: ['It is gone.', ' ', 'not-known.', ' ', 'It is gone.'],
      next: 'Ask for another.',
    })
    expect(wordsOfFindings(change, [])).toEqual({ why: '', phrase: [] })
  })
})

describe('a stored denial', () => {
  test.each(Object.values(denials))('$code is the same after its way through the audit', (denial) => {
    expect(Denial.parse(JSON.parse(JSON.stringify(denial)))).toEqual(denial)
  })
})
