import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { Redis } from 'ioredis'
import { expect, inject, test } from 'vitest'

const root = resolve(import.meta.dirname, '../..')
const acl = readFileSync(join(root, 'deploy/redis/users.acl'), 'utf8').trim().split('\n')
const rights = acl.find((line) => line.startsWith('user lockkeeper '))?.split(' ') ?? []
/** Every client may send these, whatever its rights are. */
const always = ['quit']

/** Returns what the sources match, in lower case, without duplicates. */
function inSources(extension: string, pattern: RegExp): string[] {
  const files = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith(extension))
  const found = files.flatMap((file) => [...readFileSync(join(root, 'src', file), 'utf8').matchAll(pattern)])
  return [...new Set(found.map(([, word = '']) => word.toLowerCase()))]
}

test('the user of the bot may run every command of its scripts and of its connections', async () => {
  const client = new Redis(inject('redisUrl'))
  const known = (await client.command('LIST')) as string[]
  client.disconnect()
  const inScripts = inSources('.lua', /redis\.p?call\(\s*['"](\w+)['"]/g)
  const called = inSources('.ts', /\b(?:redis|prompt|patient|client|connection|chain|transaction)\s*\.(\w+)\(/g)
  const used = [...inScripts, ...called.filter((name) => known.includes(name))]

  expect(inScripts.length).toBeGreaterThan(20)
  expect(used).toEqual(expect.arrayContaining(['mget', 'hgetall', 'xadd']))
  expect(used.filter((command) => !rights.includes(`+${command}`) && !always.includes(command))).toEqual([])
})

test('the user "default" is off and keeps its rights, with which Redis reads the append-only file', () => {
  expect(acl[0]).toBe('user default off resetpass allkeys allchannels +@all')
})
