import { expect, test } from 'vitest'
import { createScripts } from '../../src/redis/scripts.ts'
import { connectTestRedis } from '../requests/redis-for-test.ts'

test('two scripts of one name on one connection are a defect that shows at the start', async () => {
  const { redis, keys } = connectTestRedis()
  const run = createScripts(redis, new Map([['own', "return 'first'"]]))
  createScripts(redis, new Map([['own', "return 'first'"]]))

  expect(() => createScripts(redis, new Map([['own', "return 'second'"]]))).toThrow('two scripts are called own')
  expect(await run('own', [keys.open], [])).toEqual(['first'])
})
