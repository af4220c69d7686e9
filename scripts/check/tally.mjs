/** Owns counting: one line per step and the sums over tests and steps, from turbo's summary and the test report. */

const TESTS = 'unit'
const FAILURES_SHOWN_MAX = 20
/** Title of a test that stands where this machine cannot run the real ones. */
const UNTRIED = /was not tried: /

/** Tests that failed, and files that failed before any of their tests could run. */
function countTests(report) {
  const titles = []
  const untried = []
  let passed = 0
  for (const file of report.testResults) {
    const failed = file.assertionResults.filter((test) => test.status === 'failed')
    passed += file.assertionResults.filter((test) => test.status === 'passed').length
    const passedTitles = file.assertionResults.filter((test) => test.status === 'passed').map((test) => test.fullName)
    untried.push(...passedTitles.filter((title) => UNTRIED.test(title)))
    titles.push(...failed.map((test) => test.fullName))
    if (file.status === 'failed' && failed.length === 0) titles.push(`${file.name} could not be run`)
  }
  return { passed, titles, untried }
}

function seconds(execution) {
  return `${((execution.endTime - execution.startTime) / 1000).toFixed(1)} s`
}

/** A step without a record of its end has failed. Returns the lines to print and the two sums. */
export function tally(steps, summary, report) {
  const lines = []
  let passed = 0
  let failed = 0
  for (const step of steps) {
    const task = summary?.tasks?.find((candidate) => candidate.taskId === `//#${step}`)
    const ok = task?.execution?.exitCode === 0
    const time = task?.execution === undefined ? 'did not run' : seconds(task.execution)
    const cached = task?.cache?.status === 'HIT' ? ', unchanged since it last passed' : ''
    if (step !== TESTS || report === undefined) {
      if (ok && step !== TESTS) passed++
      else failed++
      lines.push(`${ok ? 'ok    ' : 'FAILED'}  ${step} (${time}${cached})`)
      continue
    }
    const tests = countTests(report)
    passed += tests.passed
    failed += tests.titles.length
    // An error outside any test (an unhandled rejection) fails the run without failing a test.
    if (!ok && tests.titles.length === 0) failed++
    lines.push(`${ok ? 'ok    ' : 'FAILED'}  ${step} (${time}): ${tests.passed} passed, ${tests.titles.length} failed`)
    for (const title of tests.untried) lines.push(`        ${title}`)
    for (const title of tests.titles.slice(0, FAILURES_SHOWN_MAX)) lines.push(`        ${title}`)
    if (tests.titles.length > FAILURES_SHOWN_MAX) {
      lines.push(`        and ${tests.titles.length - FAILURES_SHOWN_MAX} more`)
    }
  }
  return { lines, passed, failed }
}
