import type { Secret } from '../signing/secret.ts'
import type { Finding } from './finding.ts'
import type { OnAnswer } from './on-answer.ts'
import type { RetractedBecause } from './retraction.ts'

/**
 * A change that issues a secret. After the approval the requester starts it with a click, so that they are present to see the secret. Its
 * `observe` finds a secret that nobody saw, and makes it worthless.
 */
export interface Handover<Input, Facts> {
  /** The label of the button: `Create key`. */
  label: string
  /** The sentence that the requester must confirm after the click. Absent: no confirmation. */
  warning?: string
  /** Sends the one write. */
  issue(input: Input, facts: Facts, options: { onAnswer: OnAnswer }): Promise<Issued>
  /** Makes a secret worthless that nobody has seen. Safe to repeat. */
  retract(issued: Issued): Promise<void>
  /** Returns the finding with which the request fails after `retract`. */
  retracted(issued: Issued, because: RetractedBecause): Finding
}

export interface Issued {
  id: string
  secret: Secret
  /** Plain text above the secret: `Your new API key ci-deploy`. */
  heading: string
  /** Plain text in small print below the secret. */
  note: string
}
