import type { KnownBlock, ModalView } from '@slack/web-api'
import { exact, plain } from '../text/text-objects.ts'
import { limitBlocks } from './message.ts'

// Slack limits the characters of all blocks together only in messages, not in modals.
const limits = {
  blocks: { most: 100, characters: Number.POSITIVE_INFINITY },
  title: 24,
  privateMetadata: 3_000,
  callbackId: 255,
} as const

interface ModalParts {
  title: string
  blocks: KnownBlock[]
  /** Without it the modal can only be read and closed. */
  submit?: string
  close?: string
  callbackId?: string
  metadata?: string
}

/** Makes a modal within Slack's limits. Throws a RangeError if an id or the metadata is too long: cut, it would mean something else. */
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
