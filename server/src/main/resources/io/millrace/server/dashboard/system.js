// The audit log, and who may use the server.

import { html, nothing } from 'lit';
import { change, download, get, query, segment } from './http.js';
import { count, moment } from './format.js';
import {
  ACTIONS, View, ask, attempt, brief, button, commandLine, define, edit, empty, facts, field, head, link, pager, quoted, select,
  status, table, time,
} from './view.js';

const AUDIT_FILTERS = ['principal', 'action', 'kind', 'id', 'address', 'result', 'from', 'to'];

class Audit extends View {
  async load() {
    const parameters = this.route.parameters;
    const filters = Object.fromEntries(AUDIT_FILTERS.map(name => [name, parameters[name]]));
    return get(`audit${query({ ...filters, after: parameters.after, limit: 100 })}`);
  }

  content() {
    const parameters = this.route.parameters;
    const filters = Object.fromEntries(AUDIT_FILTERS.map(name => [name, parameters[name]]));
    return html`
      ${head('Audit log', {
        actions: html`
          ${button('Save as CSV', () => attempt(() => download(`audit/export${query({ ...filters, format: 'csv' })}`, 'audit.csv'), 'Saved'))}`,
      })}
      <div class="filters">
        ${field('Principal', parameters.principal, principal => this.filter({ principal }))}
        ${field('Action', parameters.action, action => this.filter({ action }), 'queue.create')}
        ${field('Id', parameters.id, id => this.filter({ id }))}
        ${select('Result', parameters.result, [['', 'any'], ['done', 'done'], ['refused', 'refused']], result => this.filter({ result }))}
        ${field('From', parameters.from, from => this.filter({ from }), '2026-12-01T00:00:00Z')}
        ${field('To', parameters.to, to => this.filter({ to }))}
      </div>
      ${table(
        [
          { title: 'When', value: entry => html`<time title=${entry.time}>${moment(entry.time)}</time>${moment(entry.until) === moment(entry.time) ? nothing : html` until <time title=${entry.until}>${moment(entry.until)}</time>`}` },
          { title: 'Who', value: entry => html`${entry.principal ?? html`<span class="calm">nobody</span>`} ${entry.key ? html`<code>${entry.key}</code>` : nothing}` },
          { title: 'From', value: entry => entry.address },
          { title: 'Action', value: entry => html`<code>${entry.action}</code>` },
          { title: 'Of', kind: 'wide', value: entry => brief([entry.scope !== entry.first && entry.scope, entry.first, entry.last !== entry.first ? `… ${entry.last}` : ''].filter(Boolean).join(' ')) },
          { title: 'Times', kind: 'number', value: entry => count(entry.count) },
          { title: 'Result', value: entry => html`<span title=${entry.reason ?? entry.api}>${status(entry.result)}</span>` },
        ],
        this.data.entries,
        { caption: 'Audit log', none: empty('No such entries', 'Changes, and what was refused, are listed here.') })}
      ${pager(this, this.data.next)}
      ${commandLine(['./millrace audit', ...AUDIT_FILTERS.filter(name => filters[name]).map(name => `--${name} ${quoted(filters[name])}`)].join(' '))}
    `;
  }
}

const ROLES = ['viewer', 'submitter', 'operator', 'admin', 'worker'];
const list = text => text.split(',').map(part => part.trim()).filter(Boolean);

const reachOf = values => {
  const reach = {};
  for (const kind of ['queues', 'types', 'groups', 'graph', 'blobs', 'cluster']) if (values[kind]) reach[kind] = list(values[kind]);
  return Object.keys(reach).length ? reach : null;
};

const principalFields = principal => [
  { name: 'roles', label: 'Role', kind: 'select', value: principal?.roles?.[0] ?? 'viewer', options: ROLES.map(role => [role, role]) },
  ...['queues', 'types', 'groups', 'graph', 'blobs', 'cluster'].map(kind => ({
    name: kind,
    label: { queues: 'Only queues that begin with', types: 'Only job types that begin with', groups: 'Only groups of the store that begin with', graph: 'Only below these nodes of the graph', blobs: 'Only blobs that begin with', cluster: 'Only locks, partitions and reports of the cluster that begin with' }[kind],
    value: principal?.reach?.[kind]?.join(', ') ?? '',
    placeholder: 'empty: no limit',
  })),
  { name: 'note', label: 'Note', value: principal?.note ?? '' },
];

/** Shows a new key, which cannot be read again. */
const showKey = key => edit('The new key', [{ name: 'key', label: 'Keep it now: it is not shown again.', value: key }], async () => {}, { yes: 'I have it' });

class Access extends View {
  interval = 5000;

  async load() {
    const [principals, keys, sessions] = await Promise.all([get('access/principals'), get('access/keys'), get('access/sessions')]);
    return { principals, keys, sessions };
  }

  content() {
    const { principals, keys, sessions } = this.data;
    return html`
      ${head('Access', {
        actions: button('New principal', () => edit(
          'New principal',
          [{ name: 'name', label: 'Name', required: true }, ...principalFields(null), { name: 'key', label: 'With a key', kind: 'check', value: true }],
          async values => {
            const made = await change('POST', 'access/principals', {
              name: values.name, roles: [values.roles], reach: reachOf(values), note: values.note,
              ...(values.key ? { key: {} } : {}),
            });
            this.reload();
            if (made.key?.key) showKey(made.key.key);
          },
          { yes: 'Create' }), { role: 'admin', kind: '' }),
      })}
      ${table(
        [
          { title: 'Principal', value: principal => link(['access', principal.name], principal.name) },
          { title: 'Roles', value: principal => principal.roles.join(', ') },
          { title: 'Reach', kind: 'wide', value: principal => (principal.reach ? brief(principal.reach) : html`<span class="calm">everything</span>`) },
          { title: 'Keys', kind: 'number', value: principal => keys.filter(key => key.principal === principal.name).length },
          { title: 'State', value: principal => status(principal.disabled ? 'paused: disabled' : 'active') },
          { title: 'Note', value: principal => (principal.note ? brief(principal.note) : nothing) },
        ],
        principals,
        { caption: 'Principals', none: empty('No principals', 'Everyone on this machine may do everything. A principal is a program or a person with a key or a password.', './millrace access create alice --role operator --key-file alice.key') })}
      <h2>Sessions</h2>
      ${table(
        [
          { title: 'Principal', value: session => (session.groups ? session.principal : link(['access', session.principal], session.principal)) },
          { title: 'From', value: session => session.address },
          { title: 'Signed in', value: session => time(Date.parse(session.created)) },
          { title: 'Last used', value: session => time(Date.parse(session.last_used)) },
          { title: 'Ends', value: session => time(Date.parse(session.expires)) },
          { title: '', value: session => button('End', async () => {
            await attempt(() => change('DELETE', `access/sessions/${segment(session.prefix)}`), 'Ended');
            this.reload();
          }, { role: 'admin', kind: 'small danger' }) },
        ],
        sessions,
        { caption: 'Sessions', none: html`<p class="calm">No browser is signed in with a session.</p>` })}
      ${commandLine('./millrace access list')}
    `;
  }
}

class Principal extends View {
  interval = 5000;

  async load() {
    const name = this.route.path[1];
    const [principal, keys] = await Promise.all([get(`access/principals/${segment(name)}`), get('access/keys')]);
    return { principal, keys: keys.filter(key => key.principal === name) };
  }

  content() {
    const { principal, keys } = this.data;
    const path = `access/principals/${segment(principal.name)}`;
    return html`
      ${head(principal.name, {
        above: [[['access'], 'Access']],
        note: principal.configured ? html`<span class="calm">from the configuration: ${principal.configured}</span>` : nothing,
        actions: principal.configured ? nothing : html`
          ${button('New key', () => edit(`New key of ${principal.name}`, [
            { name: 'name', label: 'Name', placeholder: 'what it is for' },
            { name: 'expires', label: 'Expires', placeholder: '2027-01-31T00:00:00Z; empty: never' },
          ], async values => {
            const key = await change('POST', `${path}/keys`, { name: values.name, ...(values.expires ? { expires: values.expires } : {}) });
            this.reload();
            showKey(key.key);
          }, { yes: 'Create' }), { role: 'admin', kind: '' })}
          ${button('Change', () => edit(`Change ${principal.name}`, principalFields(principal), async values => {
            await change('PATCH', path, { roles: [values.roles], reach: reachOf(values), note: values.note });
            this.reload();
          }), { role: 'admin' })}
          ${button(principal.disabled ? 'Enable' : 'Disable', async () => {
            const disable = disabled => () => change('PATCH', path, { disabled });
            await attempt(disable(!principal.disabled), principal.disabled ? 'Enabled' : 'Disabled', disable(principal.disabled));
            this.reload();
          }, { role: 'admin' })}
          ${button('Delete', async () => {
            if (!(await ask(`Delete ${principal.name}?`, 'Its keys end at once.', 'Delete'))) return;
            if (await attempt(() => change('DELETE', path), 'Deleted')) location.hash = '#/access';
          }, { role: 'admin', kind: 'danger' })}`,
      })}
      ${facts([
        ['Roles', principal.roles.join(', ')],
        ['Reach', principal.reach ? brief(principal.reach) : 'everything'],
        ['Password', principal.password ? 'set' : 'none'],
        ['Requests a second', principal.rate],
        ['Created', html`${moment(principal.created)} by ${principal.created_by}`],
        ['Note', principal.note],
      ])}
      <h2>Keys</h2>
      ${table(
        [
          { title: 'Key', value: key => html`<code>mr_${key.prefix}…</code>` },
          { title: 'Name', value: key => key.name || nothing },
          { title: 'Created', value: key => html`${time(key.created)} by ${key.created_by}` },
          { title: 'Expires', value: key => (key.expires ? time(key.expires) : html`<span class="calm">never</span>`) },
          { title: 'Last used', value: key => (key.last_used ? time(key.last_used) : html`<span class="calm">never</span>`) },
          { title: ACTIONS, kind: 'buttons', value: key => button('Revoke', async () => {
            if (!(await ask(`Revoke the key mr_${key.prefix}?`, 'What uses it is cut off at once.', 'Revoke'))) return;
            await attempt(() => change('DELETE', `access/keys/${key.prefix}`), 'Revoked');
            this.reload();
          }, { role: 'admin', kind: 'danger' }) },
        ],
        keys,
        { caption: 'Keys', none: html`<p class="calm">It has no keys.</p>` })}
      <p>${link(['audit'], 'What it has done', { principal: principal.name })}</p>
      ${commandLine(`./millrace access show ${quoted(principal.name)}`)}
    `;
  }
}

define('millrace-audit', Audit);
define('millrace-access', Access);
define('millrace-principal', Principal);
