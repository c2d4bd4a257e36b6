// Queues and their tasks.

import { html, nothing } from 'lit';
import { change, get, query, segment, sendJson, stringify } from './http.js';
import { TASK_STATUSES, count, duration, millis, moment, taskStatus } from './format.js';
import {
  ACTIONS, View, ask, attempt, attemptHistory, brief, button, chooser, chosenBar, commandLine, define, edit, empty,
  facts, field, head, href, json, link, notify, pager, quoted, reasons, select, status, table, tabs, time, wholeList,
} from './view.js';
import { bulkLink } from './bulk.js';
import './output.js';

const PAGE = 50;
const queuePath = id => `dci/queues/${segment(id)}`;

/** The state of a queue in one word, and why. */
function health(queue) {
  if (queue.halted) return ['halted', `${queue.halted.node}: ${queue.halted.reason}`];
  if (queue.suspended.length) {
    return [`suspended on ${queue.suspended.length} node${queue.suspended.length > 1 ? 's' : ''}`, queue.suspended.map(node => `${node.node}: ${node.reason}`).join('\n')];
  }
  if (!queue.threads) return ['paused', 'threads is 0: nothing is started'];
  return ['ok', ''];
}

const settingFields = (queue, plugins) => [
  { name: 'name', label: 'Name', value: queue.name, required: true },
  { name: 'plugin', label: 'Plugin', kind: 'select', value: queue.plugin, options: plugins.map(name => [name, name]), help: 'The program that runs its tasks.' },
  { name: 'threads', label: 'Threads', kind: 'number', value: queue.threads ?? '', help: 'How many of its tasks run at a time, over all nodes. 0 pauses the queue.' },
  { name: 'sort', label: 'Order', kind: 'select', value: queue.sort ?? 'default', options: [['default', 'default'], ['fifo', 'oldest first'], ['lifo', 'newest first']] },
  { name: 'limits', label: 'Shared limits', value: queue.limits ?? '', placeholder: 'names, separated by commas' },
  { name: 'starts', label: 'Starts in a time', value: queue.starts ?? '', placeholder: 'for example 100/1m' },
  { name: 'key_field', label: 'Param that is the key', value: queue.key_field ?? '', help: 'Tasks of different keys take turns.' },
  { name: 'key_running', label: 'Running at a time for each key', kind: 'number', value: queue.key_running ?? '' },
  { name: 'key_starts', label: 'Starts in a time for each key', value: queue.key_starts ?? '', placeholder: 'for example 3/1m' },
  { name: 'attempts', label: 'Attempts', kind: 'number', value: queue.attempts ?? '' },
  { name: 'timeout', label: 'Time for an attempt', value: queue.timeout ?? '', placeholder: 'for example 10m' },
  { name: 'nodes_pin', label: 'Only on these nodes', value: (queue.nodes_pin ?? []).join(','), placeholder: 'names, separated by commas' },
];

/** The values of the dialog that differ from what they were, in the types of the API. */
function changed(fields, values) {
  const result = {};
  for (const { name, value } of fields) {
    if (String(value ?? '') === values[name]) continue;
    if (name === 'nodes_pin') result[name] = values[name] ? values[name].split(/\s*,\s*/) : [];
    else if (values[name] === '') result[name] = null;
    else if (['threads', 'key_running', 'attempts'].includes(name)) result[name] = Number(values[name]);
    else result[name] = values[name];
  }
  return result;
}

async function createQueue(view) {
  const plugins = await get('dci/plugins');
  const fields = settingFields({ plugin: plugins.at(-1), threads: 1 }, plugins).slice(0, 4);
  edit(
    'New queue',
    fields,
    async values => {
      await change('POST', 'dci/queues', {
        name: values.name, plugin: values.plugin, threads: Number(values.threads), sort: values.sort,
      });
      view.reload();
    },
    { yes: 'Create' });
}

/** The params that nodes declare of a plugin, as help: `who (string, required): whom to greet`. */
async function paramsHelp(plugin) {
  const known = await get(`dci/plugins/${segment(plugin)}`).catch(() => null);
  const declared = known?.versions.find(version => version.params)?.params;
  if (!declared) return '';
  const one = param => `${param.name} (${[param.type, param.required && 'required'].filter(Boolean).join(', ')})${param.description ? `: ${param.description}` : ''}`;
  return declared.length ? `Params of ${plugin}: ${declared.map(one).join('; ')}` : `${plugin} takes no params.`;
}

async function submitTask(queue, params, done) {
  const help = await paramsHelp(queue.plugin);
  edit(
    `New task of ${queue.name}`,
    [
      { name: 'params', label: 'Params (JSON)', kind: 'area', value: params, required: true, help },
      { name: 'delay', label: 'Delay', placeholder: 'for example 10m; empty for none' },
    ],
    async values => {
      let parsed;
      try {
        parsed = JSON.parse(values.params);
      } catch (failure) {
        throw new Error(`The params are not JSON: ${failure.message}`);
      }
      if (parsed === null || typeof parsed !== 'object' || Array.isArray(parsed)) {
        throw new Error('The params are an object, for example {"command": "date"}.');
      }
      // The text goes as it was written, so that large numbers keep their digits.
      const result = await sendJson('POST', `dci/tasks/${segment(queue.id)}${query({ delay: values.delay })}`, `[${values.params}]`);
      done(result.inserted_ids?.[0]);
    },
    { yes: 'Submit' });
}

/** Sets how many tasks of a queue run at a time. */
async function setThreads(view, queue, threads, done) {
  const set = value => () => change('POST', queuePath(queue.id), { threads: value });
  await attempt(set(threads), done, set(queue.threads));
  view.reload();
}

/** The button that stops a queue from starting tasks, or lets it go on. */
function pauseOrResume(view, queue) {
  if (queue.halted || queue.suspended.length) {
    return button('Resume', async () => {
      await attempt(() => change('POST', `${queuePath(queue.id)}/resume`, {}), `${queue.name} goes on`);
      view.reload();
    });
  }
  return queue.threads
    ? button('Pause', () => setThreads(view, queue, 0, `${queue.name} is paused`))
    : button('Resume', () => edit(
        `Resume ${queue.name}`,
        [{ name: 'threads', label: 'Threads', kind: 'number', value: 1, required: true, help: 'How many of its tasks run at a time, over all nodes.' }],
        ({ threads }) => setThreads(view, queue, Number(threads), `${queue.name} goes on`),
        { yes: 'Resume' }));
}

class Queues extends View {
  async load() {
    this.follow('dci/events?type=queue');
    return { queues: await get('dci/queues') };
  }

  content() {
    const { queues } = this.data;
    return html`
      ${head('Queues', { actions: button('New queue', () => createQueue(this), { kind: '' }) })}
      ${wholeList(
        this,
        [
          { title: 'Queue', value: queue => link(['queues', queue.id], queue.name) },
          { title: 'State', value: queue => html`<span title=${health(queue)[1]}>${status(health(queue)[0])}</span>` },
          { title: 'Plugin', value: queue => html`<code>${queue.plugin}</code>` },
          { title: 'Threads', kind: 'number', value: queue => this.#threads(queue) },
          { title: 'Running', kind: 'number', value: queue => link(['queues', queue.id], count(queue.running), { status: 'running' }) },
          { title: 'Waiting', kind: 'number', value: queue => link(['queues', queue.id], count(queue.queued), { status: 'waiting' }) },
          { title: 'Finished', kind: 'number', value: queue => link(['queues', queue.id], count(queue.completed), { status: 'finished' }) },
          { title: ACTIONS, kind: 'buttons', value: queue => pauseOrResume(this, queue) },
        ],
        queues,
        {
          texts: queue => [queue.name, queue.plugin],
          state: queue => health(queue)[0].split(' ')[0],
          orders: {
            'most waiting': queue => queue.queued, 'most running': queue => queue.running,
            'most finished': queue => queue.completed, 'most threads': queue => queue.threads,
          },
          caption: 'Queues',
          none: empty(
            'No queues yet',
            'A queue holds tasks, and execution nodes run them by a plugin, for example as shell commands.',
            './millrace queues create mail --plugin shell --threads 2'),
        },
      )}
      ${commandLine('./millrace queues list')}
    `;
  }

  #threads(queue) {
    return html`<input
      class="cell" type="number" min="0" aria-label="Threads of ${queue.name}" .value=${String(queue.threads ?? '')}
      @change=${event =>
        setThreads(this, queue, event.target.value === '' ? null : Number(event.target.value), `${queue.name} has ${event.target.value || 'no'} threads`)}>`;
  }
}

const GROUPS = {
  waiting: { $lt: -1 },
  running: { $in: [-1, 0] },
  finished: { $gt: 0 },
};

/** The filter of a status in the address: a group of codes, or one code. */
const statusFilter = word =>
  GROUPS[word] ?? [...TASK_STATUSES].find(([, name]) => name === word)?.[0] ?? (word ? Number(word) : undefined);

/** Params as a person writes them, NAME=VALUE or a text within any of them, as a filter of the search. */
export function paramsFilter(text) {
  if (!/^[\w.-]+=/.test(text)) return { params: { $contains: text } };
  const filter = {};
  for (const part of text.match(/[^\s=]+=("[^"]*"|\S*)/g) ?? []) {
    const [name, value] = [part.slice(0, part.indexOf('=')), part.slice(part.indexOf('=') + 1)];
    let read;
    try {
      read = JSON.parse(value);
    } catch {
      read = value;
    }
    filter[`params.${name}`] = typeof read === 'number' ? { $in: [read, value] } : read;
  }
  return filter;
}

/** The filters of the address, in the language of the API. */
function taskFilter(parameters, queue) {
  const filter = {};
  if (queue) filter.queue = queue;
  const wanted = statusFilter(parameters.status);
  if (wanted !== undefined) filter.status = wanted;
  if (parameters.node) filter.node = parameters.node;
  if (parameters.tag) filter.tags = parameters.tag;
  if (parameters.params) Object.assign(filter, paramsFilter(parameters.params));
  return filter;
}

/** The command that shows what the filters of the address choose. */
function searchCommand(parameters, queue) {
  const { queue: _, ...filter } = taskFilter(parameters);
  return [
    './millrace tasks search',
    queue && `--queue ${quoted(queue.name)}`,
    Object.keys(filter).length > 0 && `--filter ${quoted(stringify(filter))}`,
    parameters.order === 'oldest' && '--oldest',
    parameters.archived && '--archived',
  ].filter(Boolean).join(' ');
}

/** Reads a page of tasks by the filters of the address. */
async function searchTasks(parameters, queue) {
  const filter = taskFilter(parameters, queue);
  const oldest = parameters.order === 'oldest';
  if (parameters.after) filter._id = { [oldest ? '$gt' : '$lt']: parameters.after };
  const found = await change('POST', 'dci/tasks/search', {
    filter,
    options: { limit: PAGE + 1, sort: { _id: oldest ? 1 : -1 } },
    ...(parameters.archived ? { archived: true } : {}),
  });
  const tasks = found.slice(0, PAGE);
  return { tasks, next: found.length > PAGE ? taskId(tasks.at(-1)) : null };
}

class Queue extends View {
  chosen = new Set();

  async load() {
    const id = this.route.path[1];
    this.follow(`dci/events${query({ queue: id })}`);
    const queue = await get(queuePath(id));
    return { queue, ...(await searchTasks(this.route.parameters, queue.id)) };
  }

  content() {
    const { queue, tasks, next } = this.data;
    const [word, reason] = health(queue);
    const redraw = () => this.requestUpdate();
    return html`
      ${head(queue.name, {
        above: [[['queues'], 'Queues']],
        note: html`${status(word)} ${reason ? html`<span class="calm">${reason}</span>` : nothing}`,
        actions: html`
          ${button('New task', () => submitTask(queue, '{"command": "date"}', () => this.reload()), { role: 'submitter', kind: '' })}
          ${pauseOrResume(this, queue)}
          ${bulkLink('tasks', taskFilter(this.route.parameters, queue.name))}
          ${button('Settings', () => this.#edit(queue))}
          ${button('Delete', () => this.#delete(queue), { kind: 'danger' })}
        `,
      })}
      ${facts([
        ['Plugin', html`<code>${queue.plugin}</code>`],
        ['Threads', queue.threads ?? 'not set'],
        ['Order', queue.sort === 'default' ? null : queue.sort],
        ['Shared limits', queue.limits],
        ['Starts', queue.starts],
        ['Key', queue.key_field],
        ['For each key', [queue.key_running && `${queue.key_running} at a time`, queue.key_starts && `${queue.key_starts} starts`].filter(Boolean).join(', ')],
        ['Attempts', queue.attempts],
        ['Only on', queue.nodes_pin.join(', ')],
        ['Not on', queue.nodes_ignore.join(', ')],
        ['Kept', [queue.keep_finished, queue.keep_count && `${count(queue.keep_count)} tasks`].filter(Boolean).join(', ')],
      ])}
      ${tabs(this, 'status', [
        ['', 'All'],
        ['waiting', 'Waiting', queue.queued],
        ['running', 'Running', queue.running],
        ['finished', 'Finished', queue.completed],
        ['failed', 'Failed'],
      ])}
      ${taskFilters(this)}
      ${taskTable(this, tasks, { queues: null })}
      ${pager(this, next)}
      ${chosenBar(this.chosen, taskActions, () => (this.reload(), redraw()))}
      ${commandLine(searchCommand(this.route.parameters, queue))}
    `;
  }

  async #edit(queue) {
    const fields = settingFields(queue, await get('dci/plugins'));
    edit(`Settings of ${queue.name}`, fields, async values => {
      const changes = changed(fields, values);
      if (Object.keys(changes).length === 0) return;
      await change('POST', queuePath(queue.id), changes);
      const before = Object.fromEntries(Object.keys(changes).map(name => [name, queue[name] ?? null]));
      notify(`${queue.name} is changed`, 'good', () => attempt(() => change('POST', queuePath(queue.id), before), 'Undone'));
      this.reload();
    });
  }

  async #delete(queue) {
    const tasks = queue.queued + queue.running + queue.completed;
    if (!(await ask(`Delete the queue ${queue.name}?`, `It has ${count(tasks)} tasks.`, 'Delete'))) return;
    if (await attempt(() => change('DELETE', queuePath(queue.id)), `${queue.name} is deleted`)) location.hash = '#/queues';
  }
}

const taskFilters = view => html`
  <div class="filters">
    ${select('Status', view.route.parameters.status, [['', 'any'], ['waiting', 'waiting'], ['finished', 'finished'], ...[...TASK_STATUSES.values()].map(word => [word, word])], status => view.filter({ status }))}
    ${field('Params', view.route.parameters.params, params => view.filter({ params }), 'anna or user=anna')}
    ${field('Node', view.route.parameters.node, node => view.filter({ node }))}
    ${field('Tag', view.route.parameters.tag, tag => view.filter({ tag }))}
    ${select('Order', view.route.parameters.order, [['', 'newest first'], ['oldest', 'oldest first']], order => view.filter({ order }))}
    ${select('Archive', view.route.parameters.archived, [['', 'without'], ['1', 'with']], archived => view.filter({ archived }))}
  </div>
`;

const taskId = task => task._id.$oid;

const taskTable = (view, tasks, { queues }) =>
  table(
    [
      chooser(tasks, taskId, view.chosen, () => view.requestUpdate()),
      { title: 'Task', value: task => html`<a href=${href(['tasks', taskId(task)])}><code>${taskId(task)}</code></a>` },
      ...(queues ? [{ title: 'Queue', value: task => link(['queues', task.queue.$oid], queues.get(task.queue.$oid) ?? task.queue.$oid) }] : []),
      { title: 'Status', value: task => html`<span title=${task.reason ?? ''}>${status(taskStatus(task.status))}</span>` },
      { title: 'Params', kind: 'wide', value: task => brief(task.params) },
      { title: 'Node', value: task => task.node ?? html`<span class="calm">–</span>` },
      { title: 'Created', value: task => time(task.ctime * 1000) },
      { title: 'Changed', value: task => time(task.mtime * 1000) },
    ],
    tasks,
    { caption: 'Tasks', none: empty('No such tasks', 'Change the filters, or submit one.') },
  );

const taskAction = verb => id => change('POST', `dci/tasks/id/${id}/${verb}`, {});

const taskActions = [
  { text: 'Queue again', past: 'queued again', action: taskAction('requeue') },
  { text: 'Hold', past: 'held', action: taskAction('block'), undo: taskAction('requeue') },
  { text: 'Cancel', past: 'cancelled', action: taskAction('cancel'), undo: taskAction('requeue') },
  { text: 'Terminate', past: 'terminated', action: taskAction('terminate'), kind: 'danger' },
];

class Tasks extends View {
  chosen = new Set();

  async load() {
    const [queues, found] = await Promise.all([get('dci/queues'), searchTasks(this.route.parameters)]);
    return { queues: new Map(queues.map(queue => [queue.id, queue.name])), ...found };
  }

  content() {
    const { queues, tasks, next } = this.data;
    return html`
      ${head('Tasks of all queues', { above: [[['queues'], 'Queues']], actions: bulkLink('tasks', taskFilter(this.route.parameters)) })}
      ${taskFilters(this)} ${taskTable(this, tasks, { queues })} ${pager(this, next)}
      ${chosenBar(this.chosen, taskActions, () => this.reload())}
      ${commandLine(searchCommand(this.route.parameters))}
    `;
  }
}

class Task extends View {
  interval = 2000;

  async load() {
    const id = this.route.path[1];
    const task = await get(`dci/tasks/id/${segment(id)}`);
    const queue = await get(queuePath(task.queue.$oid)).catch(() => ({ id: task.queue.$oid, name: 'a deleted queue', plugin: '' }));
    const waiting = task.status < 0 ? await get(`why/${id}?kind=task`).catch(() => null) : null;
    return { task, queue, waiting };
  }

  content() {
    const { task, queue, waiting } = this.data;
    const word = taskStatus(task.status);
    const active = task.status === 0 || task.status === -1;
    const held = task.status < -2;
    const act = (verb, done, back) => async () => {
      await attempt(() => taskAction(verb)(task.id), done, back && (() => taskAction(back)(task.id)));
      this.reload();
    };
    return html`
      ${head(html`Task <code>${task.id}</code>`, {
        above: [[['queues'], 'Queues'], [['queues', queue.id], queue.name]],
        note: html`${status(word)} ${task.reason ? html`<span>${task.reason}</span>` : nothing}`,
        actions: html`
          ${button(task.status > 0 ? 'Run again' : 'Queue again', act('requeue', 'Queued'), { shown: !active && task.status !== -2 })}
          ${button('Hold', act('block', 'Held', 'requeue'), { shown: task.status === -2 })}
          ${button('Cancel', act('cancel', 'Cancelled', 'requeue'), { shown: task.status === -2 || (held && task.status !== -5) })}
          ${button('Terminate', act('terminate', 'Told to end'), { shown: active, kind: 'danger' })}
          ${button('Edit and submit', () => submitTask(queue, stringify(task.params, 2), id => id && (location.hash = `#/tasks/${id.$oid ?? id}`)), { role: 'submitter' })}
        `,
      })}
      ${reasons(waiting)}
      ${facts([
        ['Queue', link(['queues', queue.id], queue.name)],
        ['Plugin', queue.plugin && html`<code>${queue.plugin}</code>`],
        ['Node', task.node],
        ['Created', html`${moment(task.ctime)} · ${time(task.ctime)}`],
        ['Changed', html`${moment(task.mtime)} · ${time(task.mtime)}`],
        ['Started', task.started && moment(task.started)],
        ['Took', task.status > 0 && task.started ? duration(millis(task.mtime) - millis(task.started)) : null],
        ['Not before', task.not_before && moment(task.not_before)],
        ['Attempt', task.attempt],
        ['Snoozed', task.snoozed || null],
        ['Orphaned', task.orphaned || null],
        ['Key', task.key],
        ['Priority', task.priority],
        ['Tags', task.tags],
        ['Schedule', task.schedule && html`${link(['schedules', task.schedule.name], task.schedule.name)}, for ${moment(task.schedule.nominal)}`],
        ['Waits at most until', task.wait_end && moment(task.wait_end)],
        ['Ends at the latest', task.total_end && moment(task.total_end)],
      ])}
      ${attemptHistory(task.ended_attempts)}
      <h2>Params</h2>
      ${json(task.params)}
      <h2>Output</h2>
      <millrace-output
        .streams=${[['stdout', `dci/tasks/id/${task.id}/stdout`], ['stderr', `dci/tasks/id/${task.id}/stderr`]]}
        .live=${active} .key=${`${task.id}/${task.attempt ?? 0}/${task.status}`}></millrace-output>
      ${commandLine(`./millrace tasks show ${task.id}`)}
    `;
  }
}

define('millrace-queues', Queues);
define('millrace-queue', Queue);
define('millrace-tasks', Tasks);
define('millrace-task', Task);
