import { expect, test } from 'vitest'
import type { Request } from '../../../src/domain/request.ts'
import { damagedAudit, lostRecord, safeRedis, undeliverable, unsafeRedis } from '../../../src/messages/operator-notices.ts'

const command = '/infra-staging'
const request = { id: '0529d210', state: 'done' } as Request

test('notices say what happened and what to do, with the configured command', () => {
  const notices = [
    undeliverable(request, 'is_archived', command),
    lostRecord(request.id, command),
    unsafeRedis(["Redis doesn't write changes to disk (appendonly no). Set appendonly yes."]),
    safeRedis,
    damagedAudit("Entry 2 is not genuine: its signature doesn't match.", true),
    damagedAudit('Entry 1 seems to be older than the process that noted it.', false),
  ]
  expect(notices.map(({ text }) => text).join('\n')).toMatchInlineSnapshot(`
    ":warning: Couldn't deliver a message about request 0529d210 (done) to its channel or the requester: is_archived. Tell the requester what \`/infra-staging audit 0529d210\` shows. Then invite Lockkeeper to the channel, or unarchive it.
    :rotating_light: Redis lost the record of request 0529d210. Lockkeeper no longer tracks it. Find its resource with \`/infra-staging audit 0529d210\`, and check on the account whether the change was carried out.
    :rotating_light: *Redis could lose requests and approvals.* Redis doesn't write changes to disk (appendonly no). Set appendonly yes. Another notice follows when it is safe again.
    :white_check_mark: *Redis keeps requests safe again.* It takes writes, and its settings are correct.
    :rotating_light: Entries of the audit that are older than 400 days were damaged. Entry 2 is not genuine: its signature doesn't match. They were removed because of their age, and the audit has an entry that says this. Run \`npm run audit:verify\`, and find out who can write to Redis.
    :rotating_light: Entries of the audit that are older than 400 days were damaged. Entry 1 seems to be older than the process that noted it. They are kept until correct entries after them are as old. Run \`npm run audit:verify\`, and find out who can write to Redis."
  `)
})
