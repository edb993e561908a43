import { describe, expect, test } from 'vitest'
import { AuditEntry, type AuditNote } from '../../src/audit/entry.ts'
import type { Found, FoundEntry } from '../../src/audit/find-entries.ts'
import type { AccountEvent } from '../../src/domain/account-event.ts'
import { ApiError, ApiUnreachableError } from '../../src/domain/api-errors.ts'
import type { Change } from '../../src/domain/change.ts'
import type { Finding } from '../../src/domain/finding.ts'
import { toGroup } from '../../src/domain/policy.ts'
import { matchEvents } from '../../src/features/show-audit/account/match-events.ts'
import { isAboutWrite } from '../../src/features/show-audit/account/own-writes.ts'
import { acts } from '../../src/features/show-audit/act-words.ts'
import { entryRow } from '../../src/features/show-audit/entry-row.ts'
import { readFilter } from '../../src/features/show-audit/filter.ts'
import { showAudit } from '../../src/features/show-audit/index.ts'
import { auditRows } from '../../src/features/show-audit/rows.ts'
import { steps } from '../../src/requests/steps.ts'
import type { Listing } from '../../src/slack/blocks/listing.ts'
import { catalog as everyChange } from '../requests/catalog-for-test.ts'

const [ada, ben, dov] = ['U0ADA00001', 'U0BEN00001', 'U0DOV00001']
const said = (words: string) => ({ code: 'said', words })

/** A catalog that takes the sentence of a request from its facts, and the words of a finding from the finding. */
const catalog = {
  ...everyChange,
  labelOf: (kind: string) => (kind === 'key.create' ? 'a new API key' : kind),
  sentenceOf: ({ facts }: { facts?: unknown }) => (facts as { sentence: string }).sentence,
  changeIfKnown: (kind: string) =>
    ({
      ...everyChange.changeIfKnown(kind),
      explain: ({ code, words }: Finding) => (code === 'said' ? { why: String(words) } : undefined),
    }) as Change,
}
const isGuest = { code: 'guest', action: 'read' }
const notAnApprover = { code: 'not-an-approver', approvers: { anyOf: toGroup(['S0ONCALL01']), allOf: [], approvals: 1 } }
const noon = Date.parse('2026-11-20T12:00:00Z')
const second = 1_000
const minute = 60 * second

type Noted = Partial<AuditNote> & { act: string; from?: string; to?: string; at?: number }

function genuine(fields: object): FoundEntry {
  return { ...AuditEntry.parse(fields), verdict: 'genuine' }
}

/** Builds genuine entries in the order in which they were noted, one each second from noon on. */
function entriesOf(...said: Noted[]): FoundEntry[] {
  const fields = said.map((one, index) => ({ version: 1, at: noon + index * second, ...one, seq: index + 1, prev: '' }))
  return fields.map(genuine)
}

const move = {
  requestId: '1a2b3c4d00112233445566778899aabb',
  kind: 'ip.move',
  resource: 'elastic_ip:eip_1GijF7NsZe3bN',
  facts: { sentence: 'Move 203.0.113.10 from web-1 to web-2' },
  channelId: 'C0OPS00001',
  teamId: 'T0NIMBUS01',
  payload: '9f8e'.repeat(16),
}

const rename = {
  requestId: '99887766554433221100ffeeddccbbaa',
  kind: 'vm.rename',
  resource: 'virtual_machine:vm_7265Xp57xmWdK',
  facts: { sentence: 'Rename web-21 to web-eu-1' },
  channelId: 'C0OPS00001',
}

const byRule = { by: ben, rule: 'APPROVERS', via: 'S0ONCALL01' }
const asRequester = { by: ada, via: 'requester' }

const wholeMove = entriesOf(
  { ...move, act: 'request', to: 'waiting', by: ada, rule: 'APPROVERS', via: 'member', reason: 'web-1 is to be <rebooted>' },
  { ...move, act: 'remind-half', from: 'waiting', to: 'waiting' },
  { ...move, act: 'approve', from: 'waiting', to: 'approved', ...byRule },
  { ...move, act: 'send', from: 'approved', to: 'starting' },
  { ...move, act: 'accept', from: 'starting', to: 'tracking', answer: { operation: 'elasticIps.move', status: 202 } },
  { ...move, act: 'finish', from: 'tracking', to: 'done' },
)

let events = 0
function event(action: string | undefined, at: number, more: Partial<AccountEvent> = {}): AccountEvent {
  events += 1
  return {
    id: `evt_${events}`,
    action,
    target: { id: 'eip_1GijF7NsZe3bN', name: '203.0.113.10' },
    author: { id: 'user_1', name: 'ops', email: 'ops@nimbus.example' },
    createdAt: new Date(at).toISOString(),
    ...more,
  }
}

const mallory = { author: { id: 'user_9', name: 'Mallory', email: undefined } }

function texts(rows: { text: string }[]): string {
  return rows.map(({ text }) => text).join('\n')
}

describe('rows', () => {
  test('show a whole move, newest first', () => {
    expect(texts(auditRows(wholeMove, [], catalog))).toMatchInlineSnapshot(`
      ":large_green_circle: *Done* “Move 203.0.113.10 from web-1 to web-2”, <!date^1795176005^{date_short_pretty} {time}|2026-11-20 12:00 UTC>  ·  1a2b3c4d in <#C0OPS00001>
      :arrows_counterclockwise: *Accepted by the account* “Move 203.0.113.10 from web-1 to web-2”, <!date^1795176004^{date_short_pretty} {time}|2026-11-20 12:00 UTC>  ·  elasticIps.move: 202  ·  1a2b3c4d in <#C0OPS00001>
      :arrow_forward: *Sent to the account* “Move 203.0.113.10 from web-1 to web-2”, <!date^1795176003^{date_short_pretty} {time}|2026-11-20 12:00 UTC>  ·  1a2b3c4d in <#C0OPS00001>
      :white_check_mark: *Approved* “Move 203.0.113.10 from web-1 to web-2” by <@U0BEN00001>, <!date^1795176002^{date_short_pretty} {time}|2026-11-20 12:00 UTC>  ·  by the rule APPROVERS: <!subteam^S0ONCALL01>  ·  1a2b3c4d in <#C0OPS00001>
      :bell: *Reminded the approvers* “Move 203.0.113.10 from web-1 to web-2”, <!date^1795176001^{date_short_pretty} {time}|2026-11-20 12:00 UTC>  ·  1a2b3c4d in <#C0OPS00001>
      :speech_balloon: *Asked for* “Move 203.0.113.10 from web-1 to web-2” by <@U0ADA00001>, <!date^1795176000^{date_short_pretty} {time}|2026-11-20 12:00 UTC>  ·  by the rule APPROVERS: every full member may ask  ·  reason: \`web-1 is to be &lt;rebooted&gt;\`  ·  1a2b3c4d in <#C0OPS00001>"
    `)
  })

  test('say which entries cannot be verified, and why', () => {
    const [done] = wholeMove.slice(-1) as [FoundEntry]
    const verdicts = ['unsigned', 'forged', 'unknown-key', 'copied'] as const
    const starts = verdicts.map((verdict) => texts([entryRow({ ...done, verdict }, [], catalog)]).replace(/ “.*/, ''))

    expect(starts).toEqual([
      ":warning: *Unverified* (it isn't signed): *Done*",
      ":warning: *Unverified* (its signature doesn't fit): *Done*",
      ":warning: *Unverified* (it was signed with a key that Lockkeeper doesn't have): *Done*",
      ':warning: *Unverified* (it is a copy of an older entry): *Done*',
    ])
  })

  test('show a refusal: who attempted what, and why it was refused', () => {
    const entries = entriesOf(
      { ...move, act: 'refused', by: dov, attempted: 'decide', causes: [notAnApprover] },
      { act: 'refused', by: dov, text: 'command ip move', channelId: 'C0OPS00001', attempted: 'read', causes: [isGuest] },
      {
        act: 'refused',
        by: ada,
        kind: 'key.create',
        channelId: 'C0OPS00001',
        attempted: 'request',
        causes: [{ code: 'not-a-requester', requesters: toGroup([ben]) }],
      },
      { ...move, act: 'refused', by: ada, attempted: 'own', causes: [{ code: 'only-requester-may-withdraw', requester: ben }] },
      { ...move, act: 'refused', by: ben, attempted: 'request-approve', causes: [{ code: 'stale-card' }] },
      { act: 'refused', by: ben, channelId: 'C0OPS00001', attempted: 'request-hand-over', causes: [{ code: 'foreign-button' }] },
      { ...move, act: 'refused', by: dov, attempted: 'track', causes: [notAnApprover] },
      { ...move, act: 'refused', by: ben, attempted: 'request-reject-form', causes: [{ code: 'changed-record' }] },
      { act: 'refused', by: ben },
    )
    expect(texts(entries.map((entry) => entryRow(entry, [], catalog)))).toMatchInlineSnapshot(`
      ":no_entry: *Refused*: <@U0DOV00001> tried to decide “Move 203.0.113.10 from web-1 to web-2”, <!date^1795176000^{date_short_pretty} {time}|2026-11-20 12:00 UTC>: You are not an approver of this. <!subteam^S0ONCALL01> can decide it.  ·  1a2b3c4d in <#C0OPS00001>
      :no_entry: *Refused*: <@U0DOV00001> tried to use this bot (\`command ip move\`), <!date^1795176001^{date_short_pretty} {time}|2026-11-20 12:00 UTC>: Guests may not use this bot. Ask a full member of this workspace.  ·  in <#C0OPS00001>
      :no_entry: *Refused*: <@U0ADA00001> tried to ask for a new API key, <!date^1795176002^{date_short_pretty} {time}|2026-11-20 12:00 UTC>: You are not among the people who may ask for this here (<@U0BEN00001>). Ask one of them, or the people who run this bot.  ·  in <#C0OPS00001>
      :no_entry: *Refused*: <@U0ADA00001> tried to withdraw or take “Move 203.0.113.10 from web-1 to web-2”, <!date^1795176003^{date_short_pretty} {time}|2026-11-20 12:00 UTC>: Only <@U0BEN00001>, who asked for this, can withdraw it. An approver can reject it.  ·  1a2b3c4d in <#C0OPS00001>
      :no_entry: *Refused*: <@U0BEN00001> pressed Approve on “Move 203.0.113.10 from web-1 to web-2”, <!date^1795176004^{date_short_pretty} {time}|2026-11-20 12:00 UTC>: This button is not on the card of this request, so I do not act on it. Use the card itself.  ·  1a2b3c4d in <#C0OPS00001>
      :no_entry: *Refused*: <@U0BEN00001> pressed the button that shows the secret of a request, <!date^1795176005^{date_short_pretty} {time}|2026-11-20 12:00 UTC>: This button does not belong to the request that it names: it was made for something else, or changed. I do not act on it. Use the request's own card.  ·  in <#C0OPS00001>
      :no_entry: *Refused*: <@U0DOV00001> tried to decide “Move 203.0.113.10 from web-1 to web-2”, <!date^1795176006^{date_short_pretty} {time}|2026-11-20 12:00 UTC>: You are not an approver of this. <!subteam^S0ONCALL01> can decide it.  ·  1a2b3c4d in <#C0OPS00001>
      :no_entry: *Refused*: <@U0BEN00001> tried something with “Move 203.0.113.10 from web-1 to web-2”, <!date^1795176007^{date_short_pretty} {time}|2026-11-20 12:00 UTC>: request-reject-form: What I keep of this request is no longer what was asked for, so I do not act on it, and have told the people who run me. Ask again with the command.  ·  1a2b3c4d in <#C0OPS00001>
      :no_entry: *Refused*: <@U0BEN00001> tried something, <!date^1795176008^{date_short_pretty} {time}|2026-11-20 12:00 UTC>"
    `)
  })

  test('show an unknown denial by its code', () => {
    const [entry] = entriesOf({ ...move, act: 'refused', by: dov, attempted: 'decide', causes: [{ code: 'on-vacation', until: 'Monday' }] })
    expect(entry && entryRow(entry, [], catalog).text).toMatchInlineSnapshot(
      `":no_entry: *Refused*: <@U0DOV00001> tried to decide “Move 203.0.113.10 from web-1 to web-2”, <!date^1795176000^{date_short_pretty} {time}|2026-11-20 12:00 UTC>: \`on-vacation\`  ·  1a2b3c4d in <#C0OPS00001>"`,
    )
  })

  test('show every other act in its own words, and an unknown act as it is', () => {
    const entries = entriesOf(
      { ...move, act: 'count-approval', from: 'waiting', to: 'waiting', ...byRule, missing: 1, needed: 2 },
      { ...move, act: 'exempt', from: 'waiting', to: 'approved', rule: 'NO_APPROVAL', via: 'no-approval' },
      {
        ...move,
        act: 'break-glass',
        from: 'waiting',
        to: 'approved',
        by: ada,
        rule: 'production',
        via: 'U0ADA00001',
        reason: 'everything is down',
      },
      { ...move, act: 'reject', from: 'waiting', to: 'rejected', ...byRule, reason: 'not tonight, <@U0ADA00001>' },
      { ...move, act: 'withdraw', from: 'waiting', to: 'withdrawn', ...asRequester },
      { ...move, act: 'expire-approved', from: 'approved', to: 'expired', causes: [{ code: 'not-used' }] },
      { ...move, act: 'discard', causes: [{ code: 'not-posted', error: 'not_in_channel' }] },
      {
        ...move,
        act: 'void',
        from: 'approved',
        to: 'voided',
        causes: [said('It was on web-1 when this was asked for, and is on web-3 now.')],
      },
      { ...move, act: 'drop', from: 'approved', to: 'not-started', causes: [said('The account API could not be read for ten minutes.')] },
      { ...move, act: 'answer', answer: { operation: 'elasticIps.move', problem: 'not finished within 20000 ms' } },
      { ...move, act: 'late', from: 'tracking', to: 'tracking' },
      {
        ...move,
        act: 'fail',
        from: 'starting',
        to: 'failed',
        answer: { operation: 'elasticIps.move', status: 422, codes: ['SITE_MISMATCH'] },
      },
      { ...move, act: 'not-start', from: 'starting', to: 'not-started', causes: [said('The move never started.')] },
      { ...move, act: 'supersede', from: 'tracking', to: 'superseded', causes: [said('It was moved to db-1 meanwhile.')] },
      { ...move, act: 'correct-to-tracking', from: 'not-started', to: 'tracking' },
      { ...move, act: 'correct-to-done', from: 'tracking', to: 'done' },
      { ...move, act: 'stop-tracking', from: 'tracking', to: 'untracked', ...asRequester },
      { ...move, act: 'track-again', from: 'untracked', to: 'tracking', ...asRequester },
      { act: 'unreadable', text: 'not JSON' },
      { ...move, act: 'teleport', text: 'somewhere' },
    )
    expect(texts(entries.map((entry) => entryRow(entry, [], catalog)))).toMatchInlineSnapshot(`
      ":white_check_mark: *Approved, with 1 more of 2 needed* “Move 203.0.113.10 from web-1 to web-2” by <@U0BEN00001>, <!date^1795176000^{date_short_pretty} {time}|2026-11-20 12:00 UTC>  ·  by the rule APPROVERS: <!subteam^S0ONCALL01>  ·  1a2b3c4d in <#C0OPS00001>
      :white_check_mark: *Needed no approval* “Move 203.0.113.10 from web-1 to web-2”, <!date^1795176001^{date_short_pretty} {time}|2026-11-20 12:00 UTC>  ·  by the rule NO_APPROVAL: needs no approval  ·  1a2b3c4d in <#C0OPS00001>
      :rotating_light: *Approved alone by who asked for it (break-glass)* “Move 203.0.113.10 from web-1 to web-2” by <@U0ADA00001>, <!date^1795176002^{date_short_pretty} {time}|2026-11-20 12:00 UTC>  ·  by the rule production: <@U0ADA00001> (break-glass)  ·  reason: \`everything is down\`  ·  1a2b3c4d in <#C0OPS00001>
      :no_entry_sign: *Rejected* “Move 203.0.113.10 from web-1 to web-2” by <@U0BEN00001>, <!date^1795176003^{date_short_pretty} {time}|2026-11-20 12:00 UTC>  ·  by the rule APPROVERS: <!subteam^S0ONCALL01>  ·  reason: \`not tonight, &lt;@U0ADA00001&gt;\`  ·  1a2b3c4d in <#C0OPS00001>
      :leftwards_arrow_with_hook: *Withdrawn* “Move 203.0.113.10 from web-1 to web-2” by <@U0ADA00001>, <!date^1795176004^{date_short_pretty} {time}|2026-11-20 12:00 UTC>  ·  as who asked for it  ·  1a2b3c4d in <#C0OPS00001>
      :hourglass: *Expired* “Move 203.0.113.10 from web-1 to web-2”, <!date^1795176005^{date_short_pretty} {time}|2026-11-20 12:00 UTC>  ·  Approved, but not used before the deadline.  ·  1a2b3c4d in <#C0OPS00001>
      :wastebasket: *Taken back before anybody saw it* “Move 203.0.113.10 from web-1 to web-2”, <!date^1795176006^{date_short_pretty} {time}|2026-11-20 12:00 UTC>  ·  The request message could not be posted: not_in_channel.  ·  1a2b3c4d in <#C0OPS00001>
      :warning: *Void, because the account had changed* “Move 203.0.113.10 from web-1 to web-2”, <!date^1795176007^{date_short_pretty} {time}|2026-11-20 12:00 UTC>  ·  It was on web-1 when this was asked for, and is on web-3 now.  ·  1a2b3c4d in <#C0OPS00001>
      :white_circle: *Given up before anything was sent* “Move 203.0.113.10 from web-1 to web-2”, <!date^1795176008^{date_short_pretty} {time}|2026-11-20 12:00 UTC>  ·  The account API could not be read for ten minutes.  ·  1a2b3c4d in <#C0OPS00001>
      :arrow_backward: *The account answered* “Move 203.0.113.10 from web-1 to web-2”, <!date^1795176009^{date_short_pretty} {time}|2026-11-20 12:00 UTC>  ·  elasticIps.move: not finished within 20000 ms  ·  1a2b3c4d in <#C0OPS00001>
      :snail: *Takes longer than expected* “Move 203.0.113.10 from web-1 to web-2”, <!date^1795176010^{date_short_pretty} {time}|2026-11-20 12:00 UTC>  ·  1a2b3c4d in <#C0OPS00001>
      :red_circle: *Failed* “Move 203.0.113.10 from web-1 to web-2”, <!date^1795176011^{date_short_pretty} {time}|2026-11-20 12:00 UTC>  ·  elasticIps.move: 422 SITE_MISMATCH  ·  1a2b3c4d in <#C0OPS00001>
      :white_circle: *Not started* “Move 203.0.113.10 from web-1 to web-2”, <!date^1795176012^{date_short_pretty} {time}|2026-11-20 12:00 UTC>  ·  The move never started.  ·  1a2b3c4d in <#C0OPS00001>
      :white_circle: *Superseded by another change* “Move 203.0.113.10 from web-1 to web-2”, <!date^1795176013^{date_short_pretty} {time}|2026-11-20 12:00 UTC>  ·  It was moved to db-1 meanwhile.  ·  1a2b3c4d in <#C0OPS00001>
      :warning: *Started after all* “Move 203.0.113.10 from web-1 to web-2”, <!date^1795176014^{date_short_pretty} {time}|2026-11-20 12:00 UTC>  ·  1a2b3c4d in <#C0OPS00001>
      :warning: *Corrected: done* “Move 203.0.113.10 from web-1 to web-2”, <!date^1795176015^{date_short_pretty} {time}|2026-11-20 12:00 UTC>  ·  1a2b3c4d in <#C0OPS00001>
      :see_no_evil: *No longer followed* “Move 203.0.113.10 from web-1 to web-2” by <@U0ADA00001>, <!date^1795176016^{date_short_pretty} {time}|2026-11-20 12:00 UTC>  ·  as who asked for it  ·  1a2b3c4d in <#C0OPS00001>
      :eyes: *Followed again* “Move 203.0.113.10 from web-1 to web-2” by <@U0ADA00001>, <!date^1795176017^{date_short_pretty} {time}|2026-11-20 12:00 UTC>  ·  as who asked for it  ·  1a2b3c4d in <#C0OPS00001>
      :grey_question: *Something that cannot be read*, <!date^1795176018^{date_short_pretty} {time}|2026-11-20 12:00 UTC>  ·  not JSON
      :small_blue_diamond: *teleport* “Move 203.0.113.10 from web-1 to web-2”, <!date^1795176019^{date_short_pretty} {time}|2026-11-20 12:00 UTC>  ·  somewhere  ·  1a2b3c4d in <#C0OPS00001>"
    `)
  })

  test('show no text from outside as markup', () => {
    const [entry] = entriesOf({
      act: 'request',
      by: '<!channel>',
      kind: 'ip.move',
      resource: 'elastic_ip:eip_1',
      facts: { sentence: '<!here> ” *bold*' },
      reason: '<@U0ADA00001>',
      causes: [said('<!everyone>')],
    })
    expect(entry && entryRow(entry, [], catalog).text).toMatchInlineSnapshot(
      `":speech_balloon: *Asked for* “&lt;!here&gt; " *bold*” by \`&lt;!channel&gt;\`, <!date^1795176000^{date_short_pretty} {time}|2026-11-20 12:00 UTC>  ·  reason: \`&lt;@U0ADA00001&gt;\`  ·  &lt;!everyone&gt;"`,
    )
  })

  test('show events of the account with the entries: confirmations, changes made outside, and harmless events', () => {
    const [, , , sent] = wholeMove
    const sentAt = sent?.at ?? 0
    const matched = matchEvents(
      [
        event('update.elastic_ip', sentAt + 400),
        event('update.elastic_ip', sentAt + 50 * second, mallory),
        event('delete.elastic_ip', sentAt + 10 * minute, mallory),
        event('show.elastic_ip', sentAt + 11 * minute),
        event(undefined, sentAt + 12 * minute, { author: undefined, target: { id: 'eip_1GijF7NsZe3bN', name: undefined } }),
        event('update.elastic_ip', noon, { createdAt: undefined }),
      ],
      wholeMove,
      undefined,
      catalog,
    )
    expect(texts(auditRows(wholeMove.slice(3), matched, catalog))).toMatchInlineSnapshot(`
      ":warning: account: *made outside this bot*: something (the account does not tell what) of \`eip_1GijF7NsZe3bN\` by somebody (the account does not tell who), <!date^1795176723^{date_short_pretty} {time}|2026-11-20 12:12 UTC>
      :white_small_square: account: \`show.elastic_ip\` of \`203.0.113.10\` by ops (ops@nimbus.example), <!date^1795176663^{date_short_pretty} {time}|2026-11-20 12:11 UTC>
      :warning: account: *made outside this bot*: \`delete.elastic_ip\` of \`203.0.113.10\` by Mallory, <!date^1795176603^{date_short_pretty} {time}|2026-11-20 12:10 UTC>
      :warning: account: *made outside this bot*: \`update.elastic_ip\` of \`203.0.113.10\` by Mallory, <!date^1795176053^{date_short_pretty} {time}|2026-11-20 12:00 UTC>  ·  at the time of a change of this bot, which another event confirms
      :large_green_circle: *Done* “Move 203.0.113.10 from web-1 to web-2”, <!date^1795176005^{date_short_pretty} {time}|2026-11-20 12:00 UTC>  ·  1a2b3c4d in <#C0OPS00001>
      :arrows_counterclockwise: *Accepted by the account* “Move 203.0.113.10 from web-1 to web-2”, <!date^1795176004^{date_short_pretty} {time}|2026-11-20 12:00 UTC>  ·  elasticIps.move: 202  ·  1a2b3c4d in <#C0OPS00001>
      :arrow_forward: *Sent to the account* “Move 203.0.113.10 from web-1 to web-2”, <!date^1795176003^{date_short_pretty} {time}|2026-11-20 12:00 UTC>  ·  1a2b3c4d in <#C0OPS00001>
      ↳ confirmed by the account: \`update.elastic_ip\` of \`203.0.113.10\` by ops (ops@nimbus.example), <!date^1795176003^{date_short_pretty} {time}|2026-11-20 12:00 UTC>
      :grey_question: account: \`update.elastic_ip\` of \`203.0.113.10\` by ops (ops@nimbus.example), an unknown time  ·  whether this bot made it is not known: the account does not tell when"
    `)
    expect(texts(auditRows([], matched.slice(0, 1), catalog))).toMatchInlineSnapshot(
      `":ballot_box_with_check: account: \`update.elastic_ip\` of \`203.0.113.10\` by ops (ops@nimbus.example), <!date^1795176003^{date_short_pretty} {time}|2026-11-20 12:00 UTC>  ·  made by this bot, for 1a2b3c4d"`,
    )
  })
})

describe('an event of the account', () => {
  const sentAt = noon + 10 * minute
  const sent: Noted = { ...move, act: 'send', from: 'approved', to: 'starting', at: sentAt }

  /** Matches events with these entries. */
  function match(found: AccountEvent[], said: Noted[], since?: number) {
    return matchEvents(found, entriesOf(...said), since, catalog).map((matched) => matched.is)
  }

  test.each<[name: string, action: string | undefined, afterMs: number, is: string]>([
    ['at the time of the write', 'update.elastic_ip', 0, 'confirms'],
    ['seconds before it, because of another clock', 'update.elastic_ip', -3 * second, 'confirms'],
    ['a while before it', 'update.elastic_ip', -minute, 'outside'],
    ['two minutes after it', 'update.elastic_ip', 2 * minute, 'confirms'],
    ['later', 'update.elastic_ip', 2 * minute + second, 'outside'],
    ['of another kind', 'delete.elastic_ip', 0, 'outside'],
    ['with an unknown action', 'teleport.elastic_ip', 0, 'outside'],
    ['without an action', undefined, 0, 'outside'],
    ['of a read', 'show.elastic_ip', 0, 'harmless'],
    ['of a login', 'login.user', 0, 'harmless'],
  ])('%s', (_, action, afterMs, is) => {
    expect(match([event(action, sentAt + afterMs)], [sent])).toEqual([is])
  })

  test('a second event near a write was made outside, in any order', () => {
    const own = event('update.elastic_ip', sentAt + second)
    const other = event('update.elastic_ip', sentAt + 30 * second)
    expect(match([own, other], [sent])).toEqual(['confirms', 'outside'])
    expect(match([other, own], [sent])).toEqual(['outside', 'confirms'])
  })

  test('two writes have one event each', () => {
    const again = { ...sent, requestId: 'another', at: sentAt + 20 * second }
    const found = [event('update.elastic_ip', sentAt + second), event('update.elastic_ip', sentAt + 21 * second)]
    expect(matchEvents(found, entriesOf(sent, again), undefined, catalog).map((one) => one.is === 'confirms' && one.entry.seq)).toEqual([
      1, 2,
    ])
  })

  test('of another target is not of this write', () => {
    expect(match([event('update.elastic_ip', sentAt, { target: { id: 'eip_2VszvKL6sK72c', name: undefined } })], [sent])).toEqual([
      'outside',
    ])
  })

  test('was made outside if the account refused the write, or if it did not start', () => {
    const found = [event('update.elastic_ip', sentAt + second)]
    const end = { ...move, from: 'starting', at: sentAt + second }
    const fail = { ...end, act: 'fail', to: 'failed' }
    const notStart = { ...end, act: 'not-start', to: 'not-started' }
    expect(match(found, [sent, { ...fail, answer: { operation: 'elasticIps.move', status: 422 } }])).toEqual(['outside'])
    expect(match(found, [sent, notStart])).toEqual(['outside'])
    expect(match(found, [sent, { ...fail, answer: { operation: 'elasticIps.move', status: 429 } }])).toEqual(['confirms'])
    expect(match(found, [sent, notStart, { ...move, act: 'correct-to-tracking', to: 'tracking', at: sentAt + minute }])).toEqual([
      'confirms',
    ])
  })

  test('is compared with the time of the answer if that came late', () => {
    const accept = { ...move, act: 'accept', from: 'starting', to: 'tracking', at: sentAt + 3 * minute }
    expect(match([event('update.elastic_ip', sentAt + 4 * minute)], [sent, accept])).toEqual(['confirms'])
  })

  test('of a new key is found by the id of the key, as is its deletion by Lockkeeper', () => {
    const target = { target: { id: 'tok_15s9QBceXweJT', name: 'ci-deploy' } }
    const key = {
      requestId: 'key-request',
      kind: 'key.create',
      resource: 'api_key_name:ci-deploy',
      facts: { sentence: 'Create API key ci-deploy' },
    }
    const send = { ...key, act: 'issue', at: sentAt }
    const made = {
      ...key,
      act: 'finish',
      to: 'done',
      at: sentAt + second,
      resourceId: 'tok_15s9QBceXweJT',
    }
    const undone = {
      ...key,
      act: 'fail',
      to: 'failed',
      at: sentAt + second,
      causes: [{ code: 'retracted', resourceId: 'tok_15s9QBceXweJT' }],
    }
    const found = [event('create.api_key', sentAt, target), event('destroy.api_key', sentAt + second, target)]
    expect(match(found, [send, made])).toEqual(['confirms', 'outside'])
    expect(match(found, [send, undone])).toEqual(['confirms', 'confirms'])
    expect(isAboutWrite(entriesOf(send)[0] as AuditEntry, new Set(['tok_15s9QBceXweJT']))).toBe(true)
  })

  test('is undecided if the entries of its time were not searched', () => {
    expect(match([event('update.elastic_ip', sentAt)], [], sentAt + 1)).toEqual(['undecided'])
  })
})

describe('words', () => {
  const entries = entriesOf(
    { ...move, act: 'request', by: ada, reason: 'kernel update' },
    { ...move, act: 'approve', to: 'approved', ...byRule },
    { ...move, act: 'finish', to: 'done' },
    { ...rename, act: 'request', by: ben },
    { ...rename, act: 'refused', by: dov, attempted: 'decide', causes: [notAnApprover] },
    { act: 'refused', by: dov, channelId: 'C0GENERAL1', attempted: 'read', causes: [isGuest] },
  )

  test.each<[words: string[], seqs: number[]]>([
    [[], [1, 2, 3, 4, 5, 6]],
    [['<@U0BEN00001>'], [2, 4]],
    [['<@U0BEN00001|ben>'], [2, 4]],
    [[ben], [2, 4]],
    [['me'], [1]],
    [['ip.move'], [1, 2, 3]],
    [['IP.MOVE', 'approve'], [2]],
    [['ask'], [1, 4]],
    [['end'], [3]],
    [
      ['refused', dov],
      [5, 6],
    ],
    [['approved'], [2]],
    [['done'], [3]],
    [['eip_1GijF7NsZe3bN'], [1, 2, 3]],
    [['elastic_ip:eip_1GijF7NsZe3bN'], [1, 2, 3]],
    [['203.0.113.10'], [1, 2, 3]],
    [['203.0.113.1'], []],
    [['203.0.113'], [1, 2, 3]],
    [['web-2'], [1, 2, 3]],
    [['web-21'], [4, 5]],
    [['web'], [1, 2, 3, 4, 5]],
    [['1a2b3c4d'], [1, 2, 3]],
    [[move.requestId], [1, 2, 3]],
    [['1a2b'], []],
    [['9f8e9f8e'], [1, 2, 3]],
    [['kernel update'], [1]],
    [['Kernel'], [1]],
    [['<!subteam^S0ONCALL01|@oncall>'], [2, 5]],
    [['S0ONCALL01'], [2, 5]],
    [['guests'], [6]],
    [['<#C0GENERAL1|general>'], [6]],
    [['.*'], []],
    [['203.0.113.10', '<@U0BEN00001>'], [2]],
  ])('%j', (words, seqs) => {
    const { fits } = readFilter(words, ada, catalog)
    expect(entries.filter(fits).map(({ seq }) => seq)).toEqual(seqs)
  })

  test('are shown as mentions and code', () => {
    expect(readFilter(['me', '<@U0BEN00001|ben>', 'ip.move', 'web-2', '`x`'], ada, catalog).shown.text).toMatchInlineSnapshot(
      `"<@U0ADA00001> <@U0BEN00001> \`ip.move\` \`web-2\` \`’x’\`"`,
    )
  })

  test('every act that Lockkeeper notes is known', () => {
    expect(Object.keys(acts)).toEqual(
      expect.arrayContaining(['request', 'discard', 'answer', 'refused', 'distrust', 'unreadable', ...Object.keys(steps)]),
    )
  })
})

describe('the list', () => {
  const entries = [
    ...wholeMove,
    ...['eip_2VszvKL6sK72c', 'eip_32u9zUzkpdmg6', 'eip_4xxhcCGReYR5C'].map((id, index) =>
      genuine({
        version: 1,
        ...move,
        facts: { sentence: `Move ${id}` },
        resource: `elastic_ip:${id}`,
        act: 'request',
        at: noon + minute,
        seq: 7 + index,
        prev: '',
      }),
    ),
  ]

  interface Account {
    events?: AccountEvent[]
    fails?: Error
    queries?: unknown[]
  }

  /** Runs `/infra audit` and returns the list. */
  async function list(words: string[], { events: known = [], fails, queries = [] }: Account = {}, kept = entries): Promise<Listing> {
    const {
      commands: [command],
    } = showAudit.create({
      catalog,
      audit: {
        find: async (fits, { limit = 200 } = {}): Promise<Found> => ({
          entries: kept.toReversed().filter(fits).slice(0, limit),
          searched: kept.length,
          unreadable: 0,
          since: kept[0]?.at,
          all: true,
        }),
      },
      accountApi: {
        events: {
          list: async ({ signal: _, ...query } = {}) => {
            queries.push(query)
            if (fails) throw fails
            return known
          },
        },
      },
      inventory: {
        elasticIps: async () => [{ id: 'eip_9VMfKLoJbV4mE', address: '203.0.113.99' } as never],
        virtualMachines: async () => {
          throw new ApiUnreachableError({ operation: 'virtualMachines.list', requestSent: 'no', problem: 'ECONNREFUSED' })
        },
      },
    })
    const shown: Listing[] = []
    const call = { args: words, slashCommand: { origin: { userId: ada } }, list: async (listing: Listing) => void shown.push(listing) }
    await command?.run(call as never)
    const [listing] = shown
    if (!listing) throw new Error('nothing was shown')
    return listing
  }

  const around = ({ title, notes = [] }: Listing) => texts([title, ...notes])

  test('without words shows all entries and no events, and says how to filter', async () => {
    const queries: unknown[] = []
    const listing = await list([], { queries })
    expect(listing.rows).toHaveLength(9)
    expect(queries).toEqual([])
    expect(around(listing)).toMatchInlineSnapshot(`
      "Audit: 9 entries, newest first
      Words filter, and all of them have to fit: a person (a mention, or \`me\`), a channel, a kind (\`ip.move\`), an act (\`approve\`, \`refused\`), a request by its first 8 characters, an address, a name, an id. Where they lead to few things, the account's own events of those stand beside.
      Looked through all 9 entries, back to <!date^1795176000^{date_short_pretty} {time}|2026-11-20 12:00 UTC>. \`npm run audit:verify\` checks that none was changed, removed or put in."
    `)
  })

  test('of one resource has its events, from a day before the oldest entry', async () => {
    const queries: unknown[] = []
    const listing = await list(['203.0.113.10'], { queries, events: [event('update.elastic_ip', noon + 30 * minute, mallory)] })
    expect(queries).toEqual([{ targetId: 'eip_1GijF7NsZe3bN', since: new Date('2026-11-19T12:00:00Z'), limit: 100 }])
    expect(listing.rows).toHaveLength(7)
    expect(listing.rows[0]?.text).toContain('*made outside this bot*')
    expect(around(listing)).toMatchInlineSnapshot(`
      "Audit: 6 entries and 1 event of the account for \`203.0.113.10\`, newest first
      Beside them: the account's own events of \`eip_1GijF7NsZe3bN\` since <!date^1795089600^{date_short_pretty} {time}|2026-11-19 12:00 UTC>.
      Looked through all 9 entries, back to <!date^1795176000^{date_short_pretty} {time}|2026-11-20 12:00 UTC>. \`npm run audit:verify\` checks that none was changed, removed or put in."
    `)
  })

  test('matches Lockkeeper’s own writes also if the words leave them out', async () => {
    const listing = await list(['203.0.113.10', '<@U0BEN00001>'], {
      events: [event('update.elastic_ip', (wholeMove[3]?.at ?? 0) + second)],
    })
    expect(texts(listing.rows)).toMatchInlineSnapshot(`
      ":ballot_box_with_check: account: \`update.elastic_ip\` of \`203.0.113.10\` by ops (ops@nimbus.example), <!date^1795176004^{date_short_pretty} {time}|2026-11-20 12:00 UTC>  ·  made by this bot, for 1a2b3c4d
      :white_check_mark: *Approved* “Move 203.0.113.10 from web-1 to web-2” by <@U0BEN00001>, <!date^1795176002^{date_short_pretty} {time}|2026-11-20 12:00 UTC>  ·  by the rule APPROVERS: <!subteam^S0ONCALL01>  ·  1a2b3c4d in <#C0OPS00001>"
    `)
  })

  test('of many resources has no events, and says what to do', async () => {
    const queries: unknown[] = []
    const listing = await list(['ip.move'], { queries })
    expect(queries).toEqual([])
    expect(around(listing)).toMatchInlineSnapshot(`
      "Audit: 9 entries for \`ip.move\`, newest first
      These entries are about more than three things, so the account's own events are not shown: use an address, a name or an id.
      Looked through all 9 entries, back to <!date^1795176000^{date_short_pretty} {time}|2026-11-20 12:00 UTC>. \`npm run audit:verify\` checks that none was changed, removed or put in."
    `)
  })

  test('of a resource without entries shows its events', async () => {
    const queries: unknown[] = []
    await list(['203.0.113.99'], { queries })
    const gone = await list(['eip_gone'], { queries, events: [event('delete.elastic_ip', noon, { target: undefined, ...mallory })] })
    expect(queries).toMatchObject([{ targetId: 'eip_9VMfKLoJbV4mE' }, { targetId: 'eip_gone' }])
    expect(texts(gone.rows)).toMatchInlineSnapshot(
      `":warning: account: *made outside this bot*: \`delete.elastic_ip\` of \`eip_gone\` by Mallory, <!date^1795176000^{date_short_pretty} {time}|2026-11-20 12:00 UTC>"`,
    )
    expect((await list(['nothing-of-the-kind'])).empty.text).toMatchInlineSnapshot(
      `"No entry fits \`nothing-of-the-kind\`. Use fewer or other words."`,
    )
  })

  test('leaves out events of other resources', async () => {
    const listing = await list(['203.0.113.10'], {
      events: [event('delete.elastic_ip', noon, { target: { id: 'eip_5XeqG3IsznOS2', name: 'x' } })],
    })
    expect(listing.rows).toHaveLength(6)
  })

  test('says if the events cannot be read, and shows the entries', async () => {
    const fails = new ApiError({ operation: 'events.list', status: 403, codes: [] })
    const listing = await list(['203.0.113.10'], { fails })
    expect(listing.rows).toHaveLength(6)
    expect(around(listing)).toMatchInlineSnapshot(`
      "Audit: 6 entries for \`203.0.113.10\`, newest first
      :warning: The account's own events of \`eip_1GijF7NsZe3bN\` could not be read, so changes made outside this bot are not shown. The bot's API key may not do this (403): it may be read-only or limited to other addresses. Tell the people who run this bot.
      Looked through all 9 entries, back to <!date^1795176000^{date_short_pretty} {time}|2026-11-20 12:00 UTC>. \`npm run audit:verify\` checks that none was changed, removed or put in."
    `)
  })

  test('says if it does not show everything', async () => {
    const many = entriesOf(...Array.from({ length: 300 }, () => ({ ...move, act: 'remind-half' })))
    const listing = await list(
      ['eip_1GijF7NsZe3bN'],
      { events: Array.from({ length: 100 }, () => event('update.elastic_ip', noon, mallory)) },
      many,
    )
    expect(around(listing)).toMatchInlineSnapshot(`
      "Audit: 200 entries and 100 events of the account for \`eip_1GijF7NsZe3bN\`, newest first
      Beside them: the account's own events of \`eip_1GijF7NsZe3bN\` since <!date^1795089700^{date_short_pretty} {time}|2026-11-19 12:01 UTC>. Of \`eip_1GijF7NsZe3bN\` only the newest 100.
      Looked through all 300 entries, back to <!date^1795176000^{date_short_pretty} {time}|2026-11-20 12:00 UTC>. Only the newest 200 that fit are shown: use more words. \`npm run audit:verify\` checks that none was changed, removed or put in."
    `)
  })

  test('says if the audit is empty', async () => {
    expect((await list([], {}, [])).empty.text).toMatchInlineSnapshot(`"Nothing has been noted yet."`)
  })
})
