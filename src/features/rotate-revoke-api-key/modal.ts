import type { ModalView } from '@slack/web-api'
import { z } from 'zod'
import { reasonField } from '../../requests/messages/reason-field.ts'
import { problemBlocks, wholeSection } from '../../slack/blocks/blocks.ts'
import { modal } from '../../slack/blocks/modal.ts'
import { readJson, readMetadata, writeMetadata } from '../../slack/receive/payloads.ts'
import { code, type Mrkdwn, mrkdwn } from '../../slack/text/text.ts'

export type Verb = 'rotate' | 'revoke'

export const keyChangeForms: Record<Verb, string> = { rotate: 'rotate-api-key', revoke: 'revoke-api-key' }

const titles: Record<Verb, string> = { rotate: 'Rotate API key', revoke: 'Revoke API key' }

/** The key that a form is for. It is kept in the form's metadata, because the person can only enter a reason. */
const KeyOfForm = z.object({ keyId: z.string(), name: z.string().optional() })
export type KeyOfForm = z.infer<typeof KeyOfForm>

export function withKey(metadata: string, { keyId, name }: KeyOfForm): string {
  const known = readMetadata(metadata)
  return known ? writeMetadata({ ...known, extra: JSON.stringify({ keyId, name } satisfies KeyOfForm) }) : metadata
}

export function keyIn(metadata: string): KeyOfForm | undefined {
  return readJson(KeyOfForm, readMetadata(metadata)?.extra ?? '')
}

interface KeyChangeView {
  verb: Verb
  /** Has the key. */
  metadata: string
  reason?: string | undefined
  problem?: Mrkdwn | undefined
}

/** Renders the form that asks for the reason of a rotation or a revocation. */
export function keyChangeModal({ verb, metadata, reason, problem }: KeyChangeView): ModalView {
  const { keyId, name } = keyIn(metadata) ?? { keyId: 'unknown' }
  return modal({
    callbackId: keyChangeForms[verb],
    title: titles[verb],
    submit: 'Request approval',
    metadata,
    blocks: [
      ...problemBlocks(problem),
      ...wholeSection(mrkdwn`*API key*\n${code(name ?? keyId)}\n${keyId}`),
      ...reasonField(metadata, reason),
    ],
  })
}
