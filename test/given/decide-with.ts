import type { App } from '../../src/app.ts'
import { bind } from '../../src/domain/bound.ts'
import { approve, breakGlass, mayDecide, reject, stopTracking, trackAgain, withdraw } from '../../src/life/decide.ts'

/** The decisions of one process. */
export const decideWith = (app: App) => bind(app, { approve, mayDecide, breakGlass, reject, withdraw, stopTracking, trackAgain })
