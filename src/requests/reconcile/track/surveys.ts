import type { Surveyed } from '../../catalog.ts'

const surveyMs = 15_000

/** Creates the surveys of one tick. Each survey is read at most once, when the first request of its kind needs it. */
export function createSurveys(onApiError: (error: unknown) => void) {
  const surveys = new Map<unknown, Promise<Set<string> | undefined>>()

  function read(survey: Surveyed['survey']): Promise<Set<string> | undefined> {
    const known = surveys.get(survey)
    if (known) return known
    const reading = survey({ signal: AbortSignal.timeout(surveyMs) }).catch((error: unknown) => {
      onApiError(error)
      return undefined
    })
    surveys.set(survey, reading)
    return reading
  }

  /** Whether a survey shows this request under way. False proves nothing: the request may be missing, or the survey may have failed. */
  return async function isShownUnderway({ survey, surveyKeys }: Surveyed): Promise<boolean> {
    const shown = await read(survey)
    return shown !== undefined && surveyKeys.some((key) => shown.has(key))
  }
}
