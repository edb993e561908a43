import { objectOf, objectsOf, stringOf } from './json.ts'
import { NotDescribed } from './schema.ts'
import { problemsWithView } from './validate-blocks.ts'
import type { StoredView, ViewStore } from './view-store.ts'

export type SubmissionResult = { taken: false } | { taken: true; errors?: Record<string, string> }

/** Every error must belong to an existing input block. Otherwise Slack accepts none of them. */
function errorsFor(view: StoredView, given: unknown): SubmissionResult {
  const inputs = objectsOf(view.given.blocks).filter((block) => block.type === 'input')
  const known = new Set(inputs.map((block) => stringOf(block.block_id)))
  const errors = Object.entries(objectOf(given)).map(([blockId, message]) => [blockId, String(message)] as const)
  if (errors.length === 0 || errors.some(([blockId]) => !known.has(blockId))) return { taken: false }
  return { taken: true, errors: Object.fromEntries(errors) }
}

/** Applies the acknowledgement of a submission (docs.slack.dev/surfaces/modals#handling_submissions). Without a body the view closes. */
export function answerSubmission(views: ViewStore, view: StoredView, body: unknown): SubmissionResult {
  const answer = objectOf(body)
  if (body === undefined) {
    views.close(view)
    return { taken: true }
  }
  const action = answer.response_action
  if (action === 'errors') return errorsFor(view, answer.errors)
  if (action !== 'push' && action !== 'update') throw new NotDescribed(`the answer "${String(action)}" to a submission`)

  const isOpen = views.find(view.id) !== undefined
  if (!isOpen || problemsWithView(answer.view, 'modal').length > 0) return { taken: false }
  if (action === 'push') return { taken: views.push(view.userId, objectOf(answer.view)) !== undefined }
  views.update(view, objectOf(answer.view))
  return { taken: true }
}
