import type { KnownBlock, ModalView } from '@slack/web-api'
import { limitBlocks, plain } from './blocks.ts'

const limits = { blocks: 100, title: 24, privateMetadata: 3_000, callbackId: 255 } as const

export interface ModalParts {
  title: string
  blocks: KnownBlock[]
  /** Absent: a modal that can only be read and closed. */
  submit?: string
  close?: string
  callbackId?: string
  metadata?: string
}

/** A modal within Slack's limits. Throws when the metadata is too long: cut, it would mean something else. */
export function modal({ title, blocks, submit, close = submit ? 'Cancel' : 'Close', callbackId, metadata }: ModalParts): ModalView {
  if (metadata !== undefined && metadata.length > limits.privateMetadata) {
    throw new RangeError(`a modal's metadata has ${metadata.length} characters, and Slack takes ${limits.privateMetadata}`)
  }
  return {
    type: 'modal',
    title: plain(title, limits.title),
    close: plain(close, limits.title),
    blocks: limitBlocks(blocks, limits.blocks),
    ...(submit ? { submit: plain(submit, limits.title) } : {}),
    ...(callbackId ? { callback_id: callbackId.slice(0, limits.callbackId) } : {}),
    ...(metadata === undefined ? {} : { private_metadata: metadata }),
  }
}
