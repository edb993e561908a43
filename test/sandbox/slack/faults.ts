import type { Json } from './json.ts'
import type { Fault, FaultPlan, Faults } from './slack.ts'

interface StoredFault extends FaultPlan {
  fired: number
  passed: number
}

/** Keeps the planned faults. A request gets the oldest one that fits. */
export function createFaults() {
  let faults: StoredFault[] = []

  function fits(fault: StoredFault, names: string[], args: Json): boolean {
    return names.includes(fault.method) && fault.fired < (fault.times ?? 1) && (fault.when?.(args) ?? true)
  }

  const control: Faults = {
    add(plan: FaultPlan): Fault {
      const stored: StoredFault = { ...plan, fired: 0, passed: 0 }
      faults.push(stored)
      return {
        ...plan,
        get fired() {
          return stored.fired
        },
        remove: () => {
          faults = faults.filter((fault) => fault !== stored)
        },
      }
    },
    clear: () => {
      faults = []
    },
  }

  return {
    control,
    /** Returns the fault for a request with one of these names, and counts it as fired. */
    take(names: string[], args: Json): FaultPlan | undefined {
      const fault = faults.find((one) => fits(one, names, args))
      if (fault === undefined) return undefined
      if (fault.passed < (fault.skip ?? 0)) {
        fault.passed += 1
        return undefined
      }
      fault.fired += 1
      return fault
    },
  }
}
export type FaultBox = ReturnType<typeof createFaults>
