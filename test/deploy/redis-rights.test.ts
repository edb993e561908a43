import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'

const root = resolve(import.meta.dirname, '../..')
const acl = readFileSync(join(root, 'deploy/redis/users.acl'), 'utf8').trim().split('\n')
const scripts = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.lua'))

test('the user of the bot in deploy/redis/users.acl may run every command of its scripts', () => {
  const rights = acl.find((line) => line.startsWith('user lockkeeper '))?.split(' ') ?? []
  const texts = scripts.map((file) => readFileSync(join(root, 'src', file), 'utf8')).join('\n')
  const commands = new Set([...texts.matchAll(/redis\.p?call\(\s*['"](\w+)['"]/g)].map(([, command = '']) => command.toLowerCase()))

  expect(commands.size).toBeGreaterThan(10)
  expect([...commands].filter((command) => !rights.includes(`+${command}`))).toEqual([])
})

test('the user "default" is off and keeps its rights, with which Redis reads the append-only file', () => {
  expect(acl[0]).toBe('user default off resetpass allkeys allchannels +@all')
})
