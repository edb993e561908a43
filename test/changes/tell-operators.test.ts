import { expect, test } from 'vitest'
import { createTellOperators } from '../../src/changes/tell-operators.ts'
import { notice } from '../../src/slack/notice.ts'
import { mrkdwn } from '../../src/slack/text.ts'
import { connectTestRedis } from './redis-for-test.ts'

test('where the channel of operators cannot be told, that is an error by itself, and the log has what it was about', async () => {
  const { redis, keys } = connectTestRedis()
  const lines: string[] = []
  const errors: unknown[] = []
  const tellOperators = createTellOperators({
    redis,
    keys,
    messenger: { post: async () => ({ is: 'refused', error: 'not_in_channel' }) },
    channelId: 'C1',
    log: (text) => void lines.push(text),
    onError: (error) => void errors.push(error),
  })

  await tellOperators('api-key-rejected', notice(mrkdwn`The key is rejected.`))

  expect(lines).toEqual(['The key is rejected.'])
  expect(errors).toEqual([new Error('the channel of operators could not be told: {"is":"refused","error":"not_in_channel"}')])
})
