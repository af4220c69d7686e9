/** Owns the environment of commands: what is named here or in the configuration, and nothing else of the host's. */

/** Names that programs need to find things; none of them is meant for secrets. */
const passed = [
  'PATH',
  'HOME',
  'USER',
  'LOGNAME',
  'SHELL',
  'LANG',
  'LANGUAGE',
  'TZ',
  'TMPDIR',
  'XDG_CACHE_HOME',
  'XDG_CONFIG_HOME',
  'XDG_DATA_HOME',
  'XDG_STATE_HOME',
  'XDG_RUNTIME_DIR',
  'NODE_EXTRA_CA_CERTS',
  'SSL_CERT_FILE',
  'SSL_CERT_DIR',
  'NVM_DIR',
  'PNPM_HOME',
  'VIRTUAL_ENV',
  'JAVA_HOME',
  'GOPATH',
  'CARGO_HOME',
  'RUSTUP_HOME',
]

/** Programs that would page, paint or ask are told that nobody is there. */
const fixed = { TERM: 'dumb', NO_COLOR: '1', PAGER: 'cat', GIT_PAGER: 'cat', GIT_TERMINAL_PROMPT: '0' }

export interface EnvironmentOptions {
  /** Further names to pass on. */
  readonly pass: readonly string[]
  readonly set: Readonly<Record<string, string>>
}

export function commandEnvironment(
  host: Readonly<Record<string, string | undefined>>,
  options: EnvironmentOptions,
): Record<string, string> {
  const names = new Set([...passed, ...options.pass])
  const kept = Object.entries(host).filter(([name]) => names.has(name) || /^LC_[A-Z]+$/.test(name))
  const given = kept.filter((entry): entry is [string, string] => entry[1] !== undefined)
  return { ...Object.fromEntries(given), ...fixed, ...options.set }
}
