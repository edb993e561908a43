import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
import { type Ablation, type AblationName, ablated, ablations, startOptions } from './ablations.ts'

describe('what an ablation replaces', () => {
  test.each(Object.entries<Ablation>(ablations))('exists: %s', async (name, { module }) => {
    const path = module.startsWith('src/') ? `../../${module}` : module
    const exported = await import(/* @vite-ignore */ path)
    expect(() => ablated(name as AblationName, exported)).not.toThrow()
  })

  test('is named in the error if it no longer exists', () => {
    const gone = () => ablated('search off', {})
    const create = ablated('search off', { createMessenger: () => ({}) }) as () => unknown
    expect(gone).toThrow('The ablation "search off" no longer finds "createMessenger" (createMessenger of src/slack/web-api.ts).')
    expect(create).toThrow('The ablation "search off" no longer finds "find" (createMessenger of src/slack/web-api.ts).')
  })
})

test('a program that is started with an ablation gets the module with the one export replaced', async () => {
  const { nodeOptions, env } = startOptions('absence taken for done')
  const module = new URL('../../src/features/moves/move-change.ts', import.meta.url).href
  const program = `const own = await import('${module}'); console.log(await own.moveChange({}).observe(), Object.keys(own))`
  const { stdout } = await promisify(execFile)(process.execPath, [...nodeOptions, '--input-type=module', '-e', program], {
    env: { ...process.env, ...env },
  })
  expect(stdout).toContain("{ is: 'done' }")
})
