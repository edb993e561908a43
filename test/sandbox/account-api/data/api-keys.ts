import { randomBytes } from 'node:crypto'
import { day, idOf } from './ids.ts'
import type { ApiKeyState } from './model.ts'

const bot = { id: idOf('user', 'lockkeeper'), email: 'lockkeeper@nimbus.example' }
const ada = { id: idOf('user', 'ada'), email: 'ada.okafor@nimbus.example' }

/** Returns 36 hexadecimal characters, like real tokens. */
export function newToken(): string {
  return randomBytes(18).toString('hex')
}

/** Returns the keys of the account. The first one is the bot's own. */
export function apiKeys(botToken: string): ApiKeyState[] {
  return [
    key('lockkeeper', { token: botToken, user: bot, createdAt: day('2026-08-03'), updatedAt: day('2026-08-03') }),
    key('terraform', { allowedIps: ['198.51.100.50', '192.0.2.0/24'], lastUsedAt: day('2026-11-20') }),
    key('grafana read', { readOnly: true, allowedIps: null, lastUsedAt: day('2026-11-21') }),
    key('laptop of ada'),
  ]
}

function key(name: string, more: Partial<ApiKeyState> = {}): ApiKeyState {
  return {
    id: idOf('tok', name),
    name,
    token: newToken(),
    readOnly: false,
    allowedIps: [],
    createdAt: day('2026-02-14'),
    updatedAt: day('2026-02-14'),
    lastUsedAt: null,
    user: ada,
    ...more,
  }
}
