import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, inject, onTestFinished, test } from 'vitest'
import { parse } from 'yaml'
import { startAccountApi } from '../sandbox/account-api/start-account-api.ts'
import { botVariables } from '../sandbox/bot-process.ts'
import { startSlack } from '../sandbox/slack/start-slack.ts'
import { cleanCopy, commandBlocks, pages } from './command-blocks.ts'

const runnable = pages.flatMap((page) => commandBlocks(page)).filter(({ notRun }) => notRun === undefined)
const modes = ['HTTP', 'Socket Mode'] as const
const byHand = 'By hand'
const sections = Object.entries(Object.groupBy(runnable, ({ page, section }) => `${page}, ${section}`)).flatMap(([name, blocks = []]) =>
  (blocks[0]?.section === byHand ? modes : [undefined]).map((mode) => [mode ? `${name} with ${mode}` : name, mode, blocks] as const),
)

/** Stands in for what a person writes into `.env`: stand-ins for Slack and the account, and the ports that the pages name. */
async function settings({ socketMode }: { socketMode: boolean }): Promise<Record<string, string>> {
  const slack = await startSlack()
  onTestFinished(() => slack.close())
  const accountApi = await startAccountApi()
  onTestFinished(() => accountApi.close())
  return {
    ...botVariables({ slack, accountApi, redisUrl: inject('redisUrl'), socketMode }),
    ALLOW_VOLATILE_REDIS: 'true',
    PORT: '3000',
    OPS_PORT: '9464',
  }
}

// One after the other, because the pages name fixed ports.
test.each(sections)('the commands of %s work as they are written', { timeout: 900_000 }, async (_, mode, blocks) => {
  const copy = cleanCopy(mode ? await settings({ socketMode: mode === 'Socket Mode' }) : {})
  onTestFinished(() => copy.close())

  for (const block of blocks) {
    const output = await copy.run(block)
    if (block.prints !== undefined) expect(output).toContain(block.prints)
  }
})

test.each([
  ['HTTP', 0, { socket_mode_enabled: false }],
  ['Socket Mode', 1, { socket_mode_enabled: true }],
])('the manifest that a command of docs/install.md writes is one for %s', async (_, index, expected) => {
  const block = commandBlocks('docs/install.md').filter(({ section }) => section === byHand)[index]
  const copy = cleanCopy({})
  onTestFinished(() => copy.close())

  await copy.run(block ?? { commands: 'false', runsUntil: undefined })

  const text = readFileSync(join(copy.folder, 'app.yml'), 'utf8')
  expect(text.split('\n').slice(0, 3)).toEqual(readFileSync('manifest.yml', 'utf8').split('\n').slice(0, 3))
  const { settings, features } = parse(text)
  expect(settings).toMatchObject(expected)
  const addresses = [settings.interactivity.request_url, settings.event_subscriptions.request_url, features.slash_commands[0].url]
  const address = expected.socket_mode_enabled ? undefined : 'https://lockkeeper.your-company.com/slack/events'
  expect(addresses).toEqual([address, address, address])
})
