import { z } from 'zod'
import { type Answer, notFound } from '../answer.ts'
import { type AuthorizedRequest, attributesOf } from '../authorized-request.ts'
import { newToken } from '../data/api-keys.ts'
import { idOf } from '../data/ids.ts'
import type { ApiKeyState } from '../data/model.ts'
import type { Account } from '../routes.ts'
import { apiKeyOnWire, issuedKeyOnWire } from '../wire.ts'

const Settings = z.object({
  name: z.string().min(1),
  read_only: z.boolean().optional(),
  allowed_ips: z.array(z.string()).nullish(),
})

export function listApiKeys({ world }: Account): Answer {
  return { status: 200, body: { data: world.data.apiKeys.map(apiKeyOnWire), meta: {} } }
}

export function createApiKey({ world, record }: Account, request: AuthorizedRequest): Answer {
  const settings = attributesOf(request, 'api_keys', Settings)
  const token = newToken()
  const key: ApiKeyState = {
    id: idOf('tok', token),
    name: settings.name,
    token,
    readOnly: settings.read_only ?? false,
    allowedIps: settings.allowed_ips ?? [],
    createdAt: world.now(),
    updatedAt: world.now(),
    lastUsedAt: null,
    user: request.key.user,
  }
  world.data.apiKeys.push(key)
  world.issuedTokens.push(token)
  record('create.api_key', key, request.key)
  return { status: 201, body: { data: issuedKeyOnWire(key), meta: {} } }
}

export function rotateApiKey({ world, record }: Account, request: AuthorizedRequest): Answer {
  const key = existing(world.data.apiKeys, request)
  const { name } = attributesOf(request, 'api_keys', Settings.partial())
  Object.assign(key, { name: name ?? key.name, token: newToken(), lastUsedAt: null, updatedAt: world.now() })
  world.issuedTokens.push(key.token)
  record('rotate.api_key', key, request.key)
  return { status: 200, body: { data: issuedKeyOnWire(key), meta: {} } }
}

export function updateApiKey({ world, record }: Account, request: AuthorizedRequest): Answer {
  const key = existing(world.data.apiKeys, request)
  const settings = attributesOf(request, 'api_keys', Settings.partial())
  key.name = settings.name ?? key.name
  key.readOnly = settings.read_only ?? key.readOnly
  if (settings.allowed_ips !== undefined) key.allowedIps = settings.allowed_ips
  key.updatedAt = world.now()
  record('update.api_key', key, request.key)
  return { status: 200, body: { data: apiKeyOnWire(key), meta: {} } }
}

export function deleteApiKey({ world, record }: Account, request: AuthorizedRequest): Answer {
  const key = existing(world.data.apiKeys, request)
  world.data.apiKeys.splice(world.data.apiKeys.indexOf(key), 1)
  record('destroy.api_key', key, request.key)
  return { status: 200, body: { meta: {} } }
}

function existing(keys: ApiKeyState[], { params: [id] }: AuthorizedRequest): ApiKeyState {
  const key = keys.find((one) => one.id === id)
  if (!key) throw notFound('API key')
  return key
}
