import { expect, test } from 'vitest'
import { watchThings } from '../../src/features/watch.ts'
import type { CommandCall } from '../../src/slack/commands.ts'
import { ada, address, strangeKeyring, watchedAccount } from '../requests/watching-world.ts'

/** Addresses that Ada watches by the command. Returns each answer, or the refusal. */
function startWatching() {
  const account = watchedAccount()
  account.lists.elasticIps = Array.from({ length: 30 }, (_, index) => address({ id: `eip_${index}`, address: `203.0.113.${index}` }))
  const watch = async (args: string[], { channelId = ada.channelId, app = account.app } = {}): Promise<string> => {
    const [command] = watchThings.create(app, {} as never).commands.filter(({ words }) => words === 'watch ip')
    const said: string[] = []
    const say = async ({ text }: { text: string }) => void said.push(text)
    const call = { slashCommand: { origin: { ...ada, channelId } }, args, say, list: async () => {} } as unknown as CommandCall
    await command?.run(call).catch((error: Error) => said.push(`Refused: ${error.message}`))
    return said.join()
  }
  return { ...account, watch }
}

test('a person has at most twenty watches, also if several commands arrive at the same moment', async () => {
  const { watch, watches } = startWatching()
  const answers = await Promise.all(Array.from({ length: 8 }, (_, index) => watch([`203.0.113.${index}`])))
  expect(answers.every((answer) => answer.includes('for 30 days'))).toBe(true)
  for (let index = 8; index < 19; index += 1) await watch([`203.0.113.${index}`])
  const last = await Promise.all([watch(['203.0.113.20']), watch(['203.0.113.21'])])
  expect(last.toSorted()).toEqual([
    expect.stringMatching(/^:eyes: Watching Elastic IP `203\.0\.113\.2\d` for 30 days\./),
    'Refused: You have 20 watches, the maximum. End one: `/infra watches`',
  ])
  expect(await watches()).toHaveLength(20)
})

test('nothing is watched where Lockkeeper cannot post, and while the record of watches cannot be read', async () => {
  const { watch, watches, startProcess, redis, keys } = startWatching()
  expect(await watch(['203.0.113.1'], { channelId: 'C0GENERAL1' })).toContain(
    "I'm not in this channel. Run `/invite @Lockkeeper`, then try again.",
  )
  expect(await watches()).toEqual([])

  await watch(['203.0.113.1'])
  const before = await redis.hgetall(keys.watching)
  expect(await watch(['203.0.113.2'], { app: startProcess({ keyring: strangeKeyring }).app })).toMatch(
    /Lockkeeper can't read the list of watches, so nothing was changed\. Tell Lockkeeper's operators\./,
  )
  expect(await redis.hgetall(keys.watching)).toEqual(before)
})
