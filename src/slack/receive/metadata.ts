import { z } from 'zod'
import { Origin } from '../../domain/approval/origin.ts'
import { MessageRef } from '../../domain/request/message-ref.ts'

/** Another request: its id, and the address of its message. */
const LinkedRequest = z.object({ id: z.string(), link: z.string().optional() })

/** Stored in a modal, because Slack sends no channel and no response URL with what people do in it. CONTRIBUTING.md says how it may change. */
const Metadata = z.object({
  origin: Origin,
  responseUrl: z.string().optional(),
  /** The message that the form was opened from. */
  message: MessageRef.optional(),
  extra: z.string().optional(),
  /** The reason that was typed before the form opened. */
  reason: z.string().optional(),
  /** The rule that requires a reason, by its name. */
  ruleWithReason: z.string().optional(),
  /** The request that the form undoes. */
  undoes: LinkedRequest.optional(),
  /** The ended request that the form repeats. */
  repeats: LinkedRequest.optional(),
  /** What that request filled in, and the title of the form while it stays. */
  filled: z.object({ choice: z.string(), title: z.string().optional() }).optional(),
})
export type Metadata = z.infer<typeof Metadata>
const StoredMetadata = Metadata.extend({ version: z.literal(1) })

export function writeMetadata(metadata: Metadata): string {
  return JSON.stringify({ version: 1, ...metadata } satisfies z.infer<typeof StoredMetadata>)
}

/** Reads a modal's metadata. Undefined if it has none, or another version of Lockkeeper wrote it. */
export function readMetadata(text: string): Metadata | undefined {
  return readJson(StoredMetadata, text)
}

/** Parses the JSON of a button or a modal. Undefined if it is missing, damaged or from another version of Lockkeeper. */
export function readJson<T>(schema: z.ZodType<T>, text: string): T | undefined {
  try {
    return schema.parse(JSON.parse(text))
  } catch {
    return undefined
  }
}
