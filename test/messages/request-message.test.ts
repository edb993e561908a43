import { describe, expect, test } from 'vitest'
import { alertsRequester, machineRequester } from '../../src/domain/approval.ts'
import { toGroup } from '../../src/domain/policy.ts'
import { type ItemState, type Request, requestStates } from '../../src/domain/request.ts'
import { ownFreezeName } from '../../src/domain/starts.ts'
import { phrase } from '../../src/domain/text.ts'
import { revokeChange } from '../../src/features/keys/revoke.ts'
import { rotateChange, rotationFindings } from '../../src/features/keys/rotate.ts'
import { bgpLeft } from '../../src/features/moves/evacuation.ts'
import type { CardView } from '../../src/messages/request-content.ts'
import { requestDetails } from '../../src/messages/request-details.ts'
import { approvalCard, cardActions, fitsOnCard } from '../../src/messages/request-message.ts'
import { isFinished } from '../../src/messages/request-outcome.ts'
import { phraseOf } from '../../src/messages/why-not.ts'
import { mrkdwn, phraseWords, profileLink } from '../../src/slack/text.ts'
import { fakeApp } from '../fake-app.ts'
import { terms } from '../given/people.ts'
import { description, minutes, requestedAt, requestFor, ruleFor } from '../given/request.ts'
import { charactersIn, problemsWithBlocks } from '../sandbox/slack/validate-blocks.ts'
import { cardViewFor } from './card-view-for-test.ts'
import { expectDocument } from './documents.ts'
import { readableBlocks, wordsAbove } from './readable.ts'

const at = (minute: number) => requestedAt + minute * minutes
const approvedBy = (by: string, minute: number) => ({ by, rule: 'APPROVERS', via: by, at: at(minute) })
const byBen = { by: 'U0BEN00001', rule: 'APPROVERS', via: 'U0BEN00001' }
const threeOf = ruleFor({ approve: { anyOf: toGroup(['S0ONCALL01', 'U0DEE00001']), allOf: [], approvals: 3 } })
const isOff = mrkdwn`web-2 has status off.`
const isLocked = mrkdwn`web-2 is locked on the account.`

const ofTicket = ruleFor({ reason: [{ rule: 'production', pattern: 'OPS-\\d+', link: 'https://tickets.example.com/browse/$0?a=1&b=2' }] })

const view = (request: Partial<Request>, more: Partial<CardView> = {}) => cardViewFor({ request: requestFor(request), ...more })

function evacuation(request: Partial<Request>, count: number, more: Partial<CardView> = {}, state: ItemState = 'waiting') {
  const items = Array.from({ length: count }, (_, index) => ({
    ...{ id: `eip_${index}`, name: `203.0.113.${index}`, state, ending: { why: '' } },
    ...{ sentAt: undefined, lateAt: undefined, endedAt: undefined },
  }))
  const title = phrase`Evacuate ${'web-1'} → ${'web-2'} (${count} Elastic IPs)`
  return view(request, { description: { ...description, title, short: phrase`Evacuate ${'web-1'} → ${'web-2'}` }, items, ...more })
}

const approved = { decision: byBen, approvals: [{ ...byBen, at: at(12) }], decidedAt: at(12) }
const sent = { ...approved, sentAt: at(12), acceptedAt: at(12) }
const reason = 'see https://tickets.nimbus.example/OPS-1'
const ended = (more: Partial<Request>, card: Partial<CardView> = {}) => view({ endedAt: at(13), reason, ...more }, card)
const alert = {
  reason: 'web-1 is down',
  alert: { name: 'NodeDown', startsAt: at(-2) - 20_000 },
  origin: { ...requestFor().origin, userId: alertsRequester },
}
const machine = { reason: 'Deploy 42', link: 'https://ci.example.com/jobs/42', origin: { ...alert.origin, userId: machineRequester('ci') } }

function aboutKey({ describe, handover }: ReturnType<typeof rotateChange | typeof revokeChange>, verb: 'rotate' | 'revoke'): CardView {
  const facts = {
    keyId: 'key_1',
    name: 'ci-deploy [U0ADA00001 b7e23ec29af2]',
    lastSlice: 'x7Qz',
    readOnly: false,
    allowedIps: [],
    owner: 'ci',
  }
  const found = [
    { code: 'token-stops' as const, verb },
    { code: 'key-history' as const, readAt: at(0), ageMs: 41_000, creator: 'U0ADA00001' },
    ...(verb === 'rotate' ? [{ code: 'full-access-from-everywhere' as const }] : []),
  ]
  const words = found.map((each) => rotationFindings.words(each))
  const shownAs = (isNote: true | undefined) => words.filter((each) => each.isNote === isNote).map((each) => phraseWords(phraseOf(each)))
  return view(
    { reason },
    {
      environment: 'sandbox',
      description: describe(facts),
      checks: shownAs(undefined),
      notes: shownAs(true),
      handover: handover && { label: handover.label, warning: handover.warning?.({ keyId: 'key_1' }) },
    },
  )
}

const tonight = at(8 * 60)
const planned = { for: 'freeze', name: ownFreezeName, from: at(7 * 60), until: at(9 * 60) } as const
const urgent = { rule: ruleFor({ emergency: true }) }
const office = { for: 'window', name: 'office', until: at(19 * 60) } as const
const blackFriday = { for: 'freeze', name: 'Black Friday', until: at(3 * 24 * 60) } as const

const shown = ({ blocks }: { blocks: Parameters<typeof readableBlocks>[0] }) => readableBlocks(blocks)

test('the request message in every situation', async () => {
  const handover = { handover: { label: 'Create key' } }
  const endsFirst = { handover: { label: 'Rotate key', tooLateAt: at(18 * 60) } }
  const soon = ruleFor({ approve: terms(['S0ONCALL01'], { escalate: { afterMs: 3 * minutes, to: toGroup(['S0LEADS00']) } }) })
  const escalating = ruleFor({ approve: terms(['S0ONCALL01'], { escalate: { afterMs: 30 * minutes, to: toGroup(['S0LEADS00']) } }) })
  const limit = { for: 'writes', ms: 40_000, until: 1, perMinute: 20 } as const
  const several = { approvals: [approvedBy('U0BEN00001', 5), approvedBy('U0CHI00001', 9)] }
  const moving = { ...sent, state: 'tracking' as const }
  const emergency = { ...byBen, by: 'U0ADA00001', breakGlass: true, reason: 'web-1 burns <!here>' }
  const forLater = { start: tonight, expiresAt: tonight }
  const heldItems = [
    { id: 'eip_1', state: 'done' as const, causes: [] },
    { id: 'eip_2', state: 'waiting' as const, waits: blackFriday, causes: [] },
    { id: 'eip_3', state: 'waiting' as const, causes: [] },
  ]
  const passed = [
    { by: 'window' as const, name: 'office', until: 0 },
    { by: 'freeze' as const, name: 'Black Friday', until: 0 },
    { by: 'freeze' as const, name: ownFreezeName },
  ]
  const isDown = { ...alert, reason: 'web-1 has been down for 2 minutes' }
  const seven = { environment: 'sandbox', left: { words: bgpLeft(['203.0.113.70'], 'web-1'), count: 0 } }
  const moved = { ...sent, state: 'done' as const, endedAt: at(13), items: Array(7).fill(heldItems[0]) }
  const situations: [string, CardView][] = [
    ['It waits for approval', view({})],
    [
      'It waits, in an environment, with a reason and something to check first',
      view({ reason }, { environment: 'production', checks: [isOff, isLocked], unchecked: [mrkdwn`whether it answers`] }),
    ],
    ['It waits, with a reason in which its rule links a match', view({ reason: 'OPS-1 <burns>, as OPS-2' }, { rule: ofTicket })],
    ['One approved it when the rule asked for more', view({ approvals: [approvedBy('U0BEN00001', 5)], missing: 0 })],
    ['It waits for three approvals', view({}, { rule: threeOf })],
    ['Two of three have approved', view({ ...several, missing: 1 }, { rule: threeOf })],
    ['One of the two may not approve any more', view({ ...several, missing: 2 }, { rule: threeOf })],
    [
      'An alert about a server that flaps calls nobody',
      view(
        { ...alert, approverNames: '@oncall', isQuiet: true },
        { rule: ruleFor({ approve: terms(['S0ONCALL01']), mention: toGroup(['S0PAGED001']) }) },
      ),
    ],
    ['An alert about a server that flaps escalates before its first reminder', view({ ...alert, isQuiet: true }, { rule: soon })],
    ['An alert about a server that flaps has escalated', view({ ...alert, isQuiet: true, escalated: true }, { rule: soon })],
    ['Its alert resolved after it was sent', view({ ...alert, ...sent, state: 'tracking', alertResolved: true })],
    [
      'Its thread said that an alert about its target fires',
      view({ ...sent, state: 'tracking', targetTold: { isFiring: true } }, { targetAlert: { why: 'An alert about web-2 fires.' } }),
    ],
    [
      'The rule mentions other people than the approvers, who are named',
      view({ approverNames: '@ben or @<!channel>' }, { rule: ruleFor({ mention: toGroup(['S0PAGED001']) }) }),
    ],
    ['No rule covers it any more', view({}, { rule: undefined })],
    ['An alert requested it', evacuation(alert, 2)],
    [
      'An alert requested it, with a BGP address and changes of the past hours',
      evacuation(isDown, 7, {
        ...seven,
        checks: [mrkdwn`The account shows no server for 7 addresses. Last seen on web-1 at 3:11 PM today.`],
        notes: [mrkdwn`Last change at 3:11 PM today by @ben: Move back web-2 → web-1.`],
      }),
    ],
    ['Its approved evacuation is done, and a BGP address stays', evacuation({ ...isDown, ...moved }, 7, seven, 'done')],
    [
      'The alert of many addresses resolved',
      evacuation({ ...isDown, state: 'withdrawn', endedAt: at(13) }, 7, {
        ...seven,
        ending: { why: 'The alert resolved. Nothing was done.' },
      }),
    ],
    [
      'An evacuation that its requester approved alone is done',
      evacuation({ ...moved, reason, decision: { ...emergency, passed: passed.slice(0, 1) }, approvals: [] }, 7, seven, 'done'),
    ],
    ['An alert requested it, and others are called if nobody answers', evacuation(alert, 2, { rule: escalating })],
    ['An alert requested it, and the others were called', evacuation({ ...alert, escalated: true }, 2, { rule: escalating })],
    ['An alert without words requested it', evacuation({ ...alert, reason: 'NodeDown on web-1', alert: { name: 'NodeDown' } }, 2)],
    [
      'An alert with a link in its words requested it',
      evacuation({ ...alert, reason: 'web-1 is down, see https://wiki.example.com/web-1.' }, 2),
    ],
    ['A machine requested it', view(machine)],
    ['It waits, for a key', view({}, handover)],
    ['It waits, to rotate a key that can do everything', aboutKey(rotateChange(fakeApp({})), 'rotate')],
    ['It waits, to revoke a key', aboutKey(revokeChange(fakeApp({})), 'revoke')],
    ['It needs no approval', view({ needsApproval: false }, { rule: ruleFor({ approve: undefined }) })],
    ['It needs no approval, in a freeze', view({ needsApproval: false }, { rule: ruleFor({ approve: undefined }), held: blackFriday })],
    ['Another version of Lockkeeper wrote it', view({}, { isKnown: false })],
    ['It is approved', view({ ...approved, state: 'approved' })],
    [
      'It is approved, and an alert about the target fires',
      view({ ...approved, state: 'approved', start: at(600) }, { targetAlert: { why: 'An alert about the target web-2 is firing.' } }),
    ],
    ['It is approved, and the account API does not answer', view({ ...approved, state: 'approved', waits: { for: 'account' } })],
    ["It waits for the account's limit", view({ ...approved, state: 'approved', waits: limit })],
    ['No worker runs', view({ ...approved, state: 'approved', waits: { for: 'worker' } })],
    ['It is approved, for a key', view({ ...approved, state: 'approved' }, handover)],
    ['It waits, to rotate a key that ends before the window opens', view({}, { ...urgent, held: office, ...endsFirst })],
    [
      'It is approved, to rotate a key that ends before the window opens',
      view({ ...approved, state: 'approved' }, { ...urgent, held: office, ...endsFirst }),
    ],
    ['It is requested for later', view(forLater, { held: { for: 'start', until: tonight } })],
    ['It is requested outside its window', view({}, { held: office })],
    ['It is requested outside its window, in a freeze until lifted', view({}, { held: { ...office, ifLifted: true } })],
    ['It is requested in a freeze', view({}, { held: blackFriday })],
    [
      'It is approved, and no worker has looked at its start yet',
      view({ ...approved, ...forLater, state: 'approved' }, { held: { for: 'start', until: tonight, mayStartNow: true } }),
    ],
    ['It is approved, and no worker has looked at the freeze yet', view({ ...approved, state: 'approved' }, { held: blackFriday })],
    [
      'It waits for its start',
      view({ ...approved, ...forLater, state: 'approved', waits: { for: 'start', until: tonight, mayStartNow: true } }),
    ],
    [
      'A freeze or a window holds it now, and it waits for its start',
      view({ ...approved, ...forLater, state: 'approved', waits: { for: 'start', until: tonight } }),
    ],
    [
      'A freeze is planned over its start',
      view({ ...approved, ...forLater, state: 'approved', waits: { ...planned, mayStartNow: true } }, urgent),
    ],
    ['The planned freeze has begun', view({ ...approved, ...forLater, state: 'approved', waits: { ...planned, from: undefined } }, urgent)],
    [
      'It needs no approval, and waits for its start',
      view({ ...forLater, state: 'approved', needsApproval: false }, { rule: ruleFor({ approve: undefined }) }),
    ],
    ['It waits for its window', view({ ...approved, state: 'approved', waits: office })],
    [
      'It waits for its window, and only approvers who request it themselves need not wait',
      view({ ...approved, state: 'approved', waits: office }, { rule: ruleFor({ breakGlass: true }) }),
    ],
    ['It is held by a freeze of the policy', view({ ...approved, state: 'approved', waits: blackFriday })],
    ['It is held by a freeze without an end', view({ ...approved, state: 'approved', waits: { for: 'freeze', name: ownFreezeName } })],
    ['An evacuation, and a freeze holds the rest', view({ ...moving, items: heldItems })],
    ['It is being sent', view({ ...sent, state: 'starting' })],
    ['It is under way', view(moving, { checks: [isOff] })],
    ['It is under way, usually for 40 s', view({ ...moving, usualMs: 40_000 })],
    ['It is slower than usual', view({ ...moving, slowAt: at(14) })],
    ['Three approved it', view({ ...moving, approvals: [...several.approvals, approvedBy('U0DEE00001', 12)] })],
    ['Its requester approved it alone', view({ ...moving, approvals: [], decision: emergency })],
    ['It is done', ended({ ...sent, state: 'done' }, { reverseLabel: 'Move back' })],
    ['It is done, and undid another', ended({ ...sent, state: 'done' }, { undoes: { id: '80fbcd61aa', link: undefined } })],
    ['It is done, with something to know', ended({ ...sent, state: 'done' }, { ending: { why: 'web-2 is off.' } })],
    [
      'It is done, without approval',
      ended({ ...sent, state: 'done', needsApproval: false, decision: { via: 'no-approval' }, approvals: [] }),
    ],
    ['It is done, approved by its requester alone', ended({ ...sent, state: 'done', decision: emergency, approvals: [] })],
    ['It is done, past a window and freezes', ended({ ...sent, state: 'done', decision: { ...emergency, passed }, approvals: [] })],
    ['It is done, and was not tracked for a while', ended({ ...sent, state: 'done', endedAt: at(72) + 18_000, untrackedMs: 59 * minutes })],
    ['It failed', ended({ ...sent, state: 'failed' }, { ending: { why: 'web-2 was deleted.' } })],
    [
      'It failed, and would fail again',
      ended({ ...sent, state: 'failed' }, { ending: { why: 'web-2 is outdated.', next: "Contact the provider's support." } }),
    ],
    ['It did not start', ended({ ...sent, state: 'not-started' }, { ending: { why: 'The address is still on web-1.' } })],
    ['Something else moved the address', ended({ ...sent, state: 'superseded' }, { ending: { why: 'The address is on web-3.' } })],
    ['Somebody stopped the tracking', ended({ ...sent, state: 'untracked', stoppedBy: 'U0CHI00001' })],
    [
      'The account changed before it was sent',
      ended({ ...approved, state: 'voided' }, { ending: { why: '203.0.113.10 is on web-3 now.' } }),
    ],
    [
      "The account changed before a machine's request was sent",
      ended(
        { ...machine, ...sent, ...several, state: 'voided' },
        { environment: 'sandbox', ending: { why: '203.0.113.10 is on web-3 now.' } },
      ),
    ],
    [
      'It was missed',
      ended(
        { ...approved, state: 'not-started', causes: [{ code: 'approved-too-long-ago' }] },
        { ending: { why: 'Not started in time.' } },
      ),
    ],
    [
      'It was rejected',
      ended(
        { state: 'rejected', decidedAt: at(13), decision: { ...byBen, reason: 'Not *now*, see https://status.nimbus.example' } },
        { environment: 'production' },
      ),
    ],
    ['It was withdrawn', ended({ state: 'withdrawn', withdrawnBy: 'U0ADA00001' })],
    ['The alert resolved', ended({ ...alert, state: 'withdrawn' })],
    ['It expired', ended({ state: 'expired' })],
    [
      'It took less than a second, and has a long reason',
      ended({ ...sent, state: 'done', endedAt: at(12) + 400, reason: 'because '.repeat(40) }),
    ],
    [
      'It expired after the approval',
      ended({ ...approved, state: 'expired' }, { ending: { why: 'Approved, but not used before the deadline.' } }),
    ],
  ]

  await expectDocument(
    'request-message.md',
    'The request message',
    situations.map(([situation, each]) => [situation, shown(approvalCard(each))]),
  )
  for (const [situation, each] of situations) {
    expect(problemsWithBlocks(approvalCard(each).blocks), situation).toEqual([])
    expect(problemsWithBlocks(requestDetails(each).blocks), situation).toEqual([])
    expect(JSON.stringify(approvalCard(each)).includes('request-details'), situation).toBe(
      each.isKnown && (each.request.state !== 'waiting' || each.request.approvals.length > 0),
    )
    expect(wordsAbove(approvalCard(each).blocks), situation).toBeLessThanOrEqual(isFinished(each) ? 25 : 60)
  }
})

test('the details of a request', async () => {
  const checked = {
    checks: [mrkdwn`web-2 is locked on the account.`],
    unchecked: [mrkdwn`whether web-2 is in the same site`],
  }
  await expectDocument('request-details.md', 'The details of a request', [
    ['It waits for approval', shown(requestDetails(view({ approvals: [approvedBy('U0BEN00001', 5)], missing: 1 }, { rule: threeOf })))],
    ['It is under way', shown(requestDetails(view({ ...sent, acceptedAt: at(12) + 2_100, state: 'tracking' })))],
    [
      'It is done',
      shown(
        requestDetails(
          ended({ ...sent, acceptedAt: at(12) + 2_100, lateAt: at(12) + 30_000, endedAt: at(13) + 9_000, state: 'done' }, checked),
        ),
      ),
    ],
    ['It was withdrawn', shown(requestDetails(ended({ state: 'withdrawn', withdrawnBy: 'U0ADA00001', endedAt: at(1) + 5_000 })))],
    [
      'It is scheduled',
      shown(requestDetails(view({ ...approved, state: 'approved', start: tonight, waits: { for: 'start', until: tonight } }))),
    ],
    [
      'It was held when its time was over',
      shown(requestDetails(ended({ ...approved, state: 'not-started', endedAt: at(9000), start: at(20), waits: blackFriday }))),
    ],
    [
      'An approver let it start before its start',
      shown(
        requestDetails(
          ended({
            ...sent,
            sentAt: at(30),
            acceptedAt: at(30),
            endedAt: at(31),
            state: 'done',
            start: tonight,
            startNow: { ...byBen, at: at(29) },
          }),
        ),
      ),
    ],
    [
      'An approver let it pass a freeze',
      shown(
        requestDetails(
          view({
            ...sent,
            state: 'tracking',
            approvals: [
              { ...byBen, at: at(12), emergency: true, reason: 'web-1 is down', passed: [{ by: 'freeze', name: ownFreezeName }] },
            ],
          }),
        ),
      ),
    ],
    ['Its tracking was stopped', shown(requestDetails(ended({ ...sent, state: 'untracked', stoppedBy: 'U0ADA00001', endedAt: at(30) })))],
  ])
})

test('the dialogs before a press takes effect', async () => {
  const dialogOf = (each: CardView, label: string) => {
    const { confirm } = cardActions(each).find(({ text }) => text.text === label) ?? {}
    return confirm ? `# ${confirm.title?.text}\n${confirm.text.text}\n[${confirm.confirm?.text}] [${confirm.deny?.text}]` : 'none'
  }
  const rotation = { handover: { label: 'Rotate key', warning: 'The old token stops working at once.' } }
  const ada = profileLink('U0ADA00001', `https://nimbus.slack.com/team/${'U0ADA00001'.repeat(12)}`, '@Ada')
  await expectDocument('request-dialogs.md', 'The dialogs before a press takes effect', [
    ['Approve', dialogOf(view({}), 'Approve')],
    ['Approve, where a rule asks for a confirmation', dialogOf(view({}, { rule: ruleFor({ confirm: true }) }), 'Approve')],
    ['Approve, with something to check first', dialogOf(view({}, { checks: [isOff], unchecked: [mrkdwn`whether it answers`] }), 'Approve')],
    ['Approve, with more checks than fit', dialogOf(view({}, { checks: [isOff, mrkdwn`${'x'.repeat(300)}`] }), 'Approve')],
    ['Approve, with a link in a check', dialogOf(view({}, { checks: [mrkdwn`Changed 3 hours ago, by ${ada}.`] }), 'Approve')],
    ['Withdraw, while it waits', dialogOf(view({}), 'Withdraw')],
    ['Withdraw, once it is approved', dialogOf(view({ state: 'approved' }), 'Withdraw')],
    ['Stop tracking', dialogOf(view({ state: 'tracking', slowAt: at(14) }), 'Stop tracking')],
    ['Create key', dialogOf(view({ state: 'approved' }, { handover: { label: 'Create key' } }), 'Create key')],
    ['Rotate key', dialogOf(view({ state: 'approved' }, rotation), 'Rotate key')],
  ])
})

test.each([
  ['alerts', alert],
  ['machine:ci', machine],
])("a machine's request is never shown by its id, in any state: %s", (id, requested) => {
  for (const state of requestStates) {
    const { text, blocks } = approvalCard(view({ ...requested, state }))
    expect(`${text} ${JSON.stringify(blocks)}`, state).not.toMatch(new RegExp(`<@${id}>|\`${id}\`|@${id}`))
  }
})

test('the buttons carry the request and its hash, in a block with another id at each revision', () => {
  const { id, hash } = requestFor()
  const blockOf = (revision: number) => approvalCard(view({ revision })).blocks.find(({ type }) => type === 'actions')?.block_id

  expect(cardActions(view({})).map(({ action_id, value }) => [action_id, value])).toEqual(
    ['approve', 'reject', 'withdraw'].map((name) => [`request-${name}`, `1.${id}.${hash.slice(0, 16)}`]),
  )
  expect([blockOf(1), blockOf(2)]).toEqual([`card-${id}-1`, `card-${id}-2`])
})

describe('the length of a request message', () => {
  const factsOf = (count: number, length: number) => ({
    ...description,
    facts: Array.from({ length: count }, (_, index) => ({ label: `Fact ${index}`, value: 'x'.repeat(length) })),
  })

  test('is limited to what one message can show', () => {
    const fits = (count: number, length: number) => fitsOnCard(view({}, { description: factsOf(count, length) }))
    expect([fits(0, 1), fits(180, 10), fits(250, 10), fits(2, 2_500)]).toEqual([true, true, false, false])
  })

  test('has room for every later state: a request that fits is shown whole in all of them', () => {
    const longLink = { rule: 'production', pattern: '&{100}', link: 'https://tickets.example.com/browse/$0?more=&&&&&&&&&&&&&&&&&&&&&' }
    const longest = view({ reason: 'y'.repeat(100) }, { description: factsOf(160, 10), rule: { ...threeOf, reason: [longLink] } })
    expect(fitsOnCard(longest)).toBe(true)
    const first = JSON.stringify(approvalCard(longest).blocks)
    expect(first.split('x'.repeat(10))).toHaveLength(160 + 1)
    const approvals = Array.from({ length: 10 }, (_, index) => approvedBy(`U0BEN0000${index}`, index))
    const ending = { why: `${'w'.repeat(900)} ${'&'.repeat(200)}`, next: 'Ask.' }

    for (const state of requestStates) {
      for (const breakGlass of [false, true]) {
        const decision = { ...byBen, reason: '&'.repeat(500), breakGlass }
        const request = { ...longest.request, state, approvals, decision, decidedAt: at(1), endedAt: at(1) }
        const { blocks } = approvalCard({ ...longest, ending, request })
        expect(JSON.stringify(blocks)).not.toContain('not shown')
        expect(charactersIn(blocks)).toBeLessThanOrEqual(10_000)
      }
    }
  })
})
