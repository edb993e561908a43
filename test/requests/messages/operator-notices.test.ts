import { expect, test } from 'vitest'
import type { Request } from '../../../src/domain/request.ts'
import { doubledWrite, lostRecord, safeRedis, undeliverable, unsafeRedis } from '../../../src/requests/messages/operator-notices.ts'

const command = '/infra-staging'
const request = { id: '0529d210', state: 'done' } as Request

test('notices say what happened and what to do, with the configured command', () => {
  const notices = [
    undeliverable(request, 'is_archived', command),
    lostRecord(request.id, command),
    doubledWrite(request.id, command),
    unsafeRedis(["Redis doesn't write changes to disk (appendonly no). Set appendonly yes."]),
    safeRedis,
  ]
  expect(notices.map(({ text }) => text).join('\n')).toMatchInlineSnapshot()
})
