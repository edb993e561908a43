import type { KnownBlock, ModalView } from '@slack/web-api'
import { limitBlocks } from './blocks.ts'
import { exact, plain } from './text-objects.ts'

// Tables are for messages and the Home tab. Only messages are limited by the characters of all blocks.
const limits = {
  blocks: { most: 100, tables: 0, characters: Number.POSITIVE_INFINITY },
  title: 24,
  privateMetadata: 3_000,
  callbackId: 255,
} as const

export interface ModalParts {
  title: string
  blocks: KnownBlock[]
  /** Absent: a modal that can only be read and closed. */
  submit?: string
  close?: string
  callbackId?: string
  metadata?: string
}

/** A modal within Slack's limits. Throws when an id or the metadata is too long: cut, it would mean something else. */
export function modal({ title, blocks, submit, close = submit ? 'Cancel' : 'Close', callbackId, metadata }: ModalParts): ModalView {
  return {
    type: 'modal',
    title: plain(title, limits.title),
    close: plain(close, limits.title),
    blocks: limitBlocks(blocks, limits.blocks),
    ...(submit ? { submit: plain(submit, limits.title) } : {}),
    ...(callbackId === undefined ? {} : { callback_id: exact('a callback id', callbackId, limits.callbackId) }),
    ...(metadata ? { private_metadata: exact("a modal's metadata", metadata, limits.privateMetadata) } : {}),
  }
}
