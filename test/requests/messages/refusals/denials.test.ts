import { describe, expect, test } from 'vitest'
import { Denial, type DenialCode, isForLackOfAnswer } from '../../../../src/domain/approval.ts'
import { toGroup } from '../../../../src/domain/policy.ts'
import { denialWords, storedDenialWords } from '../../../../src/messages/refusals.ts'
import { terms } from '../../../domain/people-for-test.ts'

const labelOf = (kind: string) => (kind === 'ip.move' ? 'moving an Elastic IP' : kind)

/** One denial per code. A new code does not compile until it has one here. */
const denials: Record<DenialCode, Denial> = {
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
  'not-a-requester': { code: 'not-a-requester', requesters: toGroup(['U0ADA00001', 'S0ONCALL01']) },
  'alerts-not-named': { code: 'alerts-not-named', rule: 'production' },
  'alerts-need-approval': { code: 'alerts-need-approval', rule: 'staging' },
  'not-involved': { code: 'not-involved', requester: 'U0ADA00001', approvers: terms(['U0BEN00001', 'S0ONCALL01'], { approvals: 2 }) },
  'not-an-approver': { code: 'not-an-approver', approvers: terms(['U0BEN00001', 'S0ONCALL01'], { approvals: 2 }) },
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
  'changed-record': { code: 'changed-record' },
  'unknown-key': { code: 'unknown-key' },
  'other-version': { code: 'other-version' },
}

const wordsOf = (denial: Denial) => denialWords(denial, labelOf, '/infra').text

describe('a denial in words', () => {
  test('says why and what to do, for each code', () => {
    const lines = Object.entries(denials).map(([code, denial]) => `${code}: ${wordsOf(denial)}`)

    expect(lines.join('\n')).toMatchInlineSnapshot(`
      "guest: Guests can't use Lockkeeper. Ask a teammate who is a full member of this workspace to do it for you.
      bot: Bots can't request changes.
      deactivated: Deactivated accounts can't approve or reject requests.
      other-workspace: People from other workspaces can't use Lockkeeper. Ask a member of this one.
      shared-channel: Nobody can request changes here: this channel is shared with another organization (Slack Connect). Use a channel that isn't shared.
      person-unknown: Slack didn't confirm who you are, so you can't approve or reject requests right now. Nothing was done. Try again in a minute.
      channel-unknown: Slack didn't confirm whether this channel is shared with another organization. Until then, nobody can use Lockkeeper here. Nothing was done. Try again in a minute.
      direct-message: You can't request changes in a direct message, because nobody else could approve them. Use a channel.
      not-in-channel: I'm not in this channel. Run \`/invite @Lockkeeper\` in it, then try again.
      foreign-channel: Slack doesn't list you as a member of this channel. Use another one.
      no-rule: No policy rule allows moving an Elastic IP in this channel. Request it in <#C0OPS00001> or <#C0GENERAL1>.
      project-unknown: Couldn't read the project from the account API, and the rule “production” depends on it. Nothing was requested. Try again in a minute.
      not-a-requester: You can't request this here. These requesters can: <@U0ADA00001> and <!subteam^S0ONCALL01>. Ask one of them, or the people who run Lockkeeper.
      alerts-not-named: The rule “production” doesn't let alerts request this. Nothing was requested.
      alerts-need-approval: The rule “staging” needs no approval, and what alerts request always needs one. Nothing was requested.
      not-involved: Only <@U0ADA00001>, who requested this, and its approvers (<@U0BEN00001> and <!subteam^S0ONCALL01>) can stop the tracking or start it again.
      not-an-approver: You aren't an approver of this request. 2 of <@U0BEN00001> or <!subteam^S0ONCALL01> can approve or reject it.
      too-few-approvers: Not enough approvers: rule “production” needs 2 besides you. Nothing was requested. The people who run Lockkeeper can add active members to the rule.
      group-unknown: Slack didn't return the members of the user group, so this couldn't be checked. Nothing was done. Try again in a minute.
      own-request: You requested this, so someone else must approve or reject it. To cancel it, press *Withdraw*.
      rule-gone: No policy rule covers this request anymore, so nobody can approve it. The requester can withdraw it and request it again.
      only-requester-may-issue: Only <@U0ADA00001>, who requested this token, can create it.
      only-involved-may-withdraw: Only <@U0ADA00001>, who requested this, and its approvers (<!subteam^S0ONCALL01>) can withdraw it.
      only-requester-may-withdraw: Only <@U0ADA00001>, who requested this, can withdraw it. An approver can reject it.
      only-requester-may-break-glass: Only <@U0ADA00001>, who requested this, can approve it alone.
      stale-card: This button isn't on the request message. Nothing was done. Use the request message.
      foreign-button: This button was made for another request, or it was changed. Nothing was done. Use the request message.
      unknown-request: Lockkeeper no longer has this request: it's older than 30 days, or Redis lost its data. Nothing was done. \`/infra audit\` may still show it. To make the change, run the command again.
      changed-record: The record of this request no longer matches what was requested. Nothing was done. The people who run Lockkeeper were notified. Run the command again.
      unknown-key: This request was signed with a key that Lockkeeper doesn't have (\`STATE_KEY\`). Nothing was changed. Request it again, or ask the people who run Lockkeeper to restore the key.
      other-version: Another version of Lockkeeper made this request. Nothing was changed. Try again in a few minutes."
    `)
  })

  test('says where else it can be requested, or that there is no rule at all', () => {
    expect(wordsOf({ code: 'no-rule', kind: 'ip.move', channels: ['C0OPS00001'] })).toMatch(/Request it in <#C0OPS00001>\.$/)
    expect(wordsOf({ code: 'no-rule', kind: 'ip.move', channels: [] })).toMatch(/The people who run Lockkeeper can add one\.$/)
  })

  test('says how many approvers are missing', () => {
    const one = wordsOf({ code: 'too-few-approvers', rule: 'production', needed: 1 })
    expect(one).toMatch(/^Not enough approvers: rule “production” needs 1 besides you\./)
  })

  test('names no person where alerts requested, or only alerts may request', () => {
    expect(wordsOf({ code: 'not-a-requester', requesters: toGroup([]) })).toBe(
      'Only alerts can request this here. Ask the people who run Lockkeeper.',
    )
    expect(wordsOf({ code: 'only-requester-may-break-glass', requester: 'alerts' })).toBe(
      'An alert requested this, so nobody can approve it alone.',
    )
  })

  test('shows the names of rules as text', () => {
    expect(wordsOf({ code: 'project-unknown', rule: '<!channel> & co' })).toContain('“&lt;!channel&gt; &amp; co”')
    expect(wordsOf({ code: 'too-few-approvers', rule: '<!here>', needed: 1 })).not.toContain('<!here>')
  })
})

describe('a stored denial', () => {
  test.each(Object.values(denials))('$code is the same after its way through the audit', (denial) => {
    expect(Denial.parse(JSON.parse(JSON.stringify(denial)))).toEqual(denial)
    expect(storedDenialWords(JSON.parse(JSON.stringify(denial)), labelOf).text).toBe(denialWords(denial, labelOf).text)
  })

  test('is shown as its code if this version does not know the code or its content', () => {
    expect(storedDenialWords({ code: 'on-vacation', until: 'Monday' }, labelOf).text).toBe('`on-vacation`')
    expect(storedDenialWords({ code: 'guest', action: 'teleport' }, labelOf).text).toBe('`guest`')
    expect(storedDenialWords({ code: '<!channel>' }, labelOf).text).toBe('`&lt;!channel&gt;`')
  })
})

test('a denial for lack of an answer is one that Slack’s silence caused', () => {
  const codes = Object.values(denials)
    .filter(isForLackOfAnswer)
    .map(({ code }) => code)
  expect(codes.toSorted()).toEqual(['channel-unknown', 'group-unknown', 'person-unknown'])
})
