import { describe, expect, test } from 'vitest'
import type { z } from 'zod'
import type { Finding, Words } from '../../../../src/domain/change.ts'
import { keyFindings } from '../../../../src/features/keys-change.ts'
import { newKeyFindings } from '../../../../src/features/keys-create.ts'
import { renameFindings } from '../../../../src/features/vm-rename.ts'
import { type CommonFinding, explain, explainAll, CommonFinding as schemaOfCommon } from '../../../../src/messages/refusals.ts'
import { type MoveFinding, moveFindings, moveWords } from '../../../../src/moves/move.ts'

const address = '203.0.113.10'
const server = 'web-2'
const _between = { before: 'web-1', now: 'web-3' }

/**
 * Puts each finding into words, one per line. Fails if an example does not fit its schema. Findings that are declared as a sentence have no
 * example: the declaration says it all.
 */
function wordsOf<Known extends Finding>(schema: z.ZodDiscriminatedUnion, examples: Known[], words: (finding: Known) => Words): string {
  return examples
    .map((example) => words(schema.parse(example) as Known))
    .map(({ why, next }) => (next === undefined ? why : `${why} → ${next}`))
    .join('\n')
}

describe('findings in words', () => {
  test('of a move', () => {
    const examples: MoveFinding[] = [
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
    expect(wordsOf(moveFindings.schema as never, examples, moveWords)).toMatchInlineSnapshot(`
      "No Elastic IP eip_1 on the account. → Check the account.
      No server sv_1 on the account. → Check the account.
      203.0.113.10 is already moving. Wait until that move has ended, then request again.
      203.0.113.10 has status error. Only active Elastic IPs can be moved. → Contact the provider's support.
      203.0.113.10 has status configuring. Only active Elastic IPs can be moved.
      web-2 is in site FRA, and 203.0.113.10 is in ASH. An Elastic IP can only be moved within its site. → Choose another server.
      whether web-2 is in the same project (the account API doesn't show it clearly)
      whether web-2 is in the same site (the account API doesn't show it clearly)
      web-2 is scheduled for deletion at 2026-12-01 09:30 UTC.
      Another server (sv_9) is also called web-2. This move goes to sv_2.
      5 other servers (sv_7, sv_8, sv_9 …) are also called web-2. This move goes to sv_2.
      203.0.113.10 is on web-3. Another change moved it.
      203.0.113.10 is moving to web-3. Another change moved it."
    `)
  })

  test('of a rename', () => {
    const virtualMachineId = 'vm_1'
    const examples: z.infer<typeof renameFindings.schema>[] = [
      { code: 'no-virtual-machine', virtualMachineId },
      { code: 'not-a-hostname', problem: 'The new name is empty.' },
      { code: 'name-taken', name: 'web-2', others: ['vm_9'], count: 1 },
      { code: 'name-taken', name: 'web-2', others: ['vm_7', 'vm_8', 'vm_9'], count: 4 },
      { code: 'name-shared', name: 'web-1', others: ['vm_7'], count: 1 },
    ]
    expect(wordsOf(renameFindings.schema as never, examples, renameFindings.words)).toMatchInlineSnapshot(`
      "No virtual machine vm_1 on the account. → Check the account.
      The new name is empty. → Choose another name.
      Another virtual machine (vm_9) is already called web-2.
      4 other virtual machines (vm_7, vm_8, vm_9 …) are already called web-2.
      Another virtual machine (vm_7) is also called web-1."
    `)
  })

  test('of a new key', () => {
    const examples: z.infer<typeof newKeyFindings.schema>[] = [
      { code: 'name-taken', name: 'ci-deploy' },
      { code: 'same-name', name: 'ci-deploy', others: ['tok_1'], count: 1 },
      { code: 'created-unseen', resourceId: 'tok_1' },
      { code: 'retracted', resourceId: 'tok_1', because: 'not-shown' },
      { code: 'retracted', resourceId: 'tok_1', because: 'too-slow' },
    ]
    expect(wordsOf(newKeyFindings.schema as never, examples, newKeyFindings.words)).toMatchInlineSnapshot(`
      "An API key called ci-deploy already exists.
      Another API key (tok_1) is already called ci-deploy.
      Nobody saw the token of the created key (tok_1), so Lockkeeper deleted it.
      The key was created (tok_1). Slack didn't confirm the message with its token, so Lockkeeper deleted the key at once.
      The key was created (tok_1). It took too long to show its token, so Lockkeeper deleted the key at once."
    `)
  })

  test('of a rotation and a revocation', () => {
    const examples: z.infer<typeof keyFindings.schema>[] = [
      { code: 'no-key', keyId: 'tok_1', verb: 'revoke' },
      { code: 'no-key', keyId: 'tok_1', verb: 'rotate' },
      { code: 'own-key', verb: 'rotate', variable: 'INFRA_API_KEY' },
      { code: 'perhaps-own-key', name: 'ci-deploy' },
      { code: 'key-unread', keyId: 'tok_1' },
      { code: 'token-stops', verb: 'rotate' },
      { code: 'token-stops', verb: 'revoke' },
      { code: 'key-history', usedAgoMs: 300_000, ageMs: 86_400_000, creator: 'U0ADA00001' },
      { code: 'key-history' },
      { code: 'key-history', ageMs: 86_400_000, changedAgoMs: 600_000 },
      { code: 'same-name', name: 'ci-deploy', lastSlice: 'a1b2c', count: 1 },
      { code: 'access-changed', before: 'read-only access', now: 'full access' },
      { code: 'retracted', because: 'not-shown' },
    ]
    expect(wordsOf(keyFindings.schema as never, examples, keyFindings.words)).toMatchInlineSnapshot(`
      "No API key tok_1 on the account. → There is nothing left to do.
      No API key tok_1 on the account. → Request a new key.
      Lockkeeper uses this key, so it can't rotate it. Rotate it in the dashboard and update INFRA_API_KEY. → The people who run Lockkeeper can do that.
      whether ci-deploy is Lockkeeper's own key (the account API doesn't show the end of its token)
      whether API key tok_1 exists and isn't Lockkeeper's own (the account API didn't answer)
      The old token stops working as soon as the requester presses Rotate key.
      The token stops working when the key is revoked, right after the approval.
      Last used 5 minutes before this request. Created 1 day before this request, for U0ADA00001.
      The account shows no use of it. Created at an unknown time.
      The account shows no use of it since it was last changed or rotated, 10 minutes before this request. Created 1 day before this request.
      2 API keys are called ci-deploy. This one's token ends in a1b2c.
      The key's access was read-only access when this was requested, and is full access now.
      The key was rotated, so its old token no longer works. Slack didn't confirm the message with its token, so Lockkeeper deleted the key at once. → Request a new key."
    `)
  })

  test('of any request', () => {
    const refused = { operation: 'elasticIps.move', status: 422, codes: ['SERVER_NETWORK_INCOMPATIBLE'] }
    const examples: CommonFinding[] = [
      { code: 'api-refused', ...refused, effect: 'not-changed' },
      { code: 'api-refused', ...refused, codes: [], detail: 'No such thing', effect: 'not-sent' },
      { code: 'api-unreachable', effect: 'not-sent' },
      { code: 'api-unreachable', effect: 'not-made' },
      { code: 'account-unread' },
      { code: 'account-unread', refusal: { operation: 'elasticIps.get', status: 401, codes: [] } },
      { code: 'approved-too-long-ago' },
      { code: 'limit-used-up', perMinute: 20 },
      { code: 'record-changed' },
      { code: 'record-unverified' },
      { code: 'unknown-key' },
      { code: 'approvals-not-genuine' },
      { code: 'already-sent' },
      { code: 'already-ended' },
      { code: 'approval-needed-now' },
      { code: 'rule-gone' },
      { code: 'suspended' },
      { code: 'not-used' },
      { code: 'not-posted', error: 'is_archived' },
      { code: 'alert-resolved' },
      { code: 'approvers-unknown' },
      { code: 'channel-unreadable' },
    ]
    const codes = schemaOfCommon.options.flatMap(({ shape }) => [...shape.code.values])
    expect([...new Set(examples.map(({ code }) => code))].toSorted()).toEqual(codes.toSorted())
    expect(wordsOf(schemaOfCommon, examples, (finding) => explain(undefined, finding))).toMatchInlineSnapshot(`
      "Nothing was changed. The target's network configuration is outdated. → Contact the provider's support.
      The account API refused this (422). It says: “No such thing”. Nothing was sent or changed.
      Couldn't reach the account API. Nothing was sent or changed.
      Couldn't reach the account API. Nothing was created.
      Couldn't read the account for 30 minutes after the approval. Nothing was sent or changed.
      Couldn't read the account for 30 minutes after the approval. Nothing was sent or changed. The account API rejects Lockkeeper's API key (401). The people who run Lockkeeper must set a valid INFRA_API_KEY.
      Approved, but not sent within 30 minutes. Nothing was changed.
      The account's limit of calls a minute left no room for it within 30 minutes after the approval. Nothing was sent or changed.
      Its record in Redis no longer matches what was approved. Nothing was sent or changed. Someone may have changed Redis. → Tell the people who run Lockkeeper before you request it again.
      Its record in Redis doesn't match what was requested. Someone may have changed Redis.
      The request was signed with a key that Lockkeeper doesn't have. Nothing was sent or changed.
      Its approvals in Redis aren't genuine. Nothing was sent or changed. Someone may have changed Redis. → Tell the people who run Lockkeeper before you request it again.
      The audit shows that it was sent before. Nothing was sent again. Someone may have changed Redis. → Tell the people who run Lockkeeper before you request it again.
      The audit shows that it had already ended. Nothing was sent. Someone may have changed Redis. → Tell the people who run Lockkeeper before you request it again.
      The policy now requires approval for it. Nothing was sent or changed.
      No policy rule covers it anymore. Nothing was sent or changed. → The people who run Lockkeeper can add a rule.
      Lockkeeper was suspended before it sent the request. Nothing was changed.
      Approved, but the requester didn't press the button before the deadline.
      Couldn't post the request message: is_archived.
      The alert resolved. Nothing was done.
      whether enough people can approve it (Slack didn't return the members of the user group)
      whether this channel is shared with another organization (the Slack scope channels:read or groups:read is missing)"
    `)
  })
})

describe('a finding that this version does not know', () => {
  test('is shown by its code, and so is a known code with unknown content', () => {
    expect(explain(undefined, { code: 'of-another-version', server })).toEqual({ why: 'of-another-version.' })
    expect(explain(undefined, { code: 'api-refused', status: 'gone' })).toEqual({ why: 'api-refused.' })
  })

  test('is shown beside known ones, and the next step is given once', () => {
    const known = { code: 'known' }
    const change = { explain: ({ code }: Finding) => (code === 'known' ? { why: 'It is gone.', next: 'Ask for another.' } : undefined) }
    expect(explainAll(change, [known, { code: 'not-known' }, known])).toEqual({
      why: 'It is gone. not-known. It is gone.',
      next: 'Ask for another.',
    })
    expect(explainAll(change, [])).toEqual({ why: '' })
  })
})

test('a refusal of one of several items says of that item alone that it was not changed', () => {
  const refused: CommonFinding = { code: 'api-refused', operation: 'x', status: 422, codes: ['ELASTIC_IP_LOCKED'], effect: 'not-changed' }

  expect(explainAll(undefined, [refused], '203.0.113.15').why).toMatch(/ELASTIC_IP_LOCKED\).*203\.0\.113\.15 wasn't changed\.$/)
  expect(explainAll(undefined, [refused]).why).toMatch(/Nothing was changed\.$/)
})
