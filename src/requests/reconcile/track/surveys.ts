import type { Surveyed } from '../../catalog.ts'

const surveyMs = 15_000

/** The result of a survey for one request. `missing` proves nothing: the survey may be incomplete. `unread`: it failed. */
type SurveyResult = 'shown' | 'missing' | 'unread'

/** Creates the surveys of one tick or look. Each survey is read at most once, when the first request of its kind needs it. */
export function createSurveys(onApiError: (error: unknown) => void, { firstPageOnly = false } = {}) {
  const surveys = new Map<unknown, Promise<Set<string> | undefined>>()

  function read(survey: Surveyed['survey']): Promise<Set<string> | undefined> {
    const known = surveys.get(survey)
    if (known) return known
    const reading = survey({ signal: AbortSignal.timeout(surveyMs), firstPageOnly }).catch((error: unknown) => {
      onApiError(error)
      return undefined
    })
    surveys.set(survey, reading)
    return reading
  }

  /** Returns whether the survey of its kind shows this request under way. */
  return async function surveyed(request: Surveyed | undefined): Promise<SurveyResult> {
    if (!request) return 'missing'
    const shown = await read(request.survey)
    if (!shown) return 'unread'
    return request.surveyKeys.some((key) => shown.has(key)) ? 'shown' : 'missing'
  }
}
