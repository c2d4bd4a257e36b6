package io.millrace.spring;

import io.millrace.client.jobs.JobContext;
import io.millrace.client.jobs.JobKind;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.core.MethodIntrospector;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

/**
 * The methods with {@link MillraceJob} of all beans, found by the classes of the beans, none of
 * which is created for it. Immutable.
 */
public final class JobHandlers {
  private static final int MAX_CONCURRENCY = 1_000;

  private final List<Handler> all;

  private JobHandlers(List<Handler> all) {
    this.all = List.copyOf(all);
  }

  /**
   * A method that works on jobs.
   *
   * @param kind of its jobs
   * @param concurrency how many at a time
   * @param work calls it
   */
  record Handler(
      JobKind<Object, Object> kind, int concurrency, JobKind.Handler<Object, Object> work) {}

  /**
   * Finds and checks them.
   *
   * @throws IllegalStateException if a method cannot be one, with its name
   */
  static JobHandlers of(ConfigurableListableBeanFactory beans) {
    Map<String, Method> byType = new TreeMap<>();
    List<Handler> all = new ArrayList<>();
    for (String bean : beans.getBeanNamesForType(Object.class, true, false)) {
      Class<?> type = beans.getType(bean, false);
      if (type == null || bean.startsWith("scopedTarget.")) {
        continue;
      }
      Class<?> user = ClassUtils.getUserClass(type);
      ReflectionUtils.MethodFilter annotated =
          method -> AnnotatedElementUtils.hasAnnotation(method, MillraceJob.class);
      for (Method method : MethodIntrospector.selectMethods(user, annotated)) {
        MillraceJob job =
            Objects.requireNonNull(
                AnnotatedElementUtils.findMergedAnnotation(method, MillraceJob.class));
        Method other = byType.put(job.value(), method);
        if (other != null) {
          throw wrong(
              method, "the type \"" + job.value() + "\" has another method, " + name(other));
        }
        all.add(handler(beans, bean, type, method, job));
      }
    }
    return new JobHandlers(all);
  }

  List<Handler> all() {
    return all;
  }

  private static String name(Method method) {
    return method.getDeclaringClass().getName() + "." + method.getName();
  }

  private static IllegalStateException wrong(Method method, String why) {
    return new IllegalStateException("@MillraceJob on " + name(method) + ": " + why);
  }

  private static Handler handler(
      BeanFactory beans, String bean, Class<?> type, Method method, MillraceJob job) {
    Class<?>[] parameters = method.getParameterTypes();
    boolean takesContext = parameters.length == 2 && parameters[1] == JobContext.class;
    if ((parameters.length != 1 && !takesContext) || parameters[0] == JobContext.class) {
      throw wrong(method, "its parameters are the payload and, if it wants, the JobContext");
    }
    if (parameters[0].isPrimitive() || parameters[0].isInterface()) {
      throw wrong(method, "a payload is a class, for example a record, not " + parameters[0]);
    }
    if (Modifier.isStatic(method.getModifiers()) || Modifier.isPrivate(method.getModifiers())) {
      throw wrong(method, "it is neither static nor private");
    }
    if (job.concurrency() < 1 || job.concurrency() > MAX_CONCURRENCY) {
      throw wrong(method, "concurrency is from 1 to 1,000, not " + job.concurrency());
    }
    Method callable;
    JobKind<Object, Object> kind;
    try {
      callable = AopUtils.selectInvocableMethod(method, type);
      kind = kind(job.value(), parameters[0], method.getReturnType());
    } catch (IllegalArgumentException | IllegalStateException e) {
      throw wrong(method, String.valueOf(e.getMessage()));
    }
    callable.setAccessible(true);
    return new Handler(
        kind,
        job.concurrency(),
        (payload, context) ->
            call(
                callable,
                beans.getBean(bean),
                takesContext ? new Object[] {payload, context} : new Object[] {payload}));
  }

  @SuppressWarnings("unchecked")
  private static JobKind<Object, Object> kind(String name, Class<?> payload, Class<?> result) {
    Class<?> boxed = ClassUtils.resolvePrimitiveIfNecessary(result);
    return JobKind.of(name, (Class<Object>) payload, (Class<Object>) boxed);
  }

  private static @Nullable Object call(Method method, Object bean, Object[] arguments)
      throws Exception {
    try {
      return method.invoke(bean, arguments);
    } catch (InvocationTargetException e) {
      switch (e.getCause()) {
        case Exception cause -> throw cause;
        case Error cause -> throw cause;
        case null, default -> throw e;
      }
    }
  }
}
