//! Tool calls of the simulator: permission, run and result, with the events that an agent fires for them.

use checkrein_core::payload::{ApprovalDecision, Notification, ToolCall, ToolFailure, ToolOutcome};
use checkrein_core::{Decision, Event, EventKind, RawJson, Target};

use super::play::{Control, Session, SimEvent, effective};
use super::script::{Answer, ScriptedOutcome, ToolStep};

/// Permission for a tool call.
enum Permission {
    Given,
    Refused,
    /// Refused, and the loop ends.
    Halted,
}

impl<E, A: FnMut(SimEvent<'_>) -> Result<(), E>> Session<'_, A> {
    pub(super) async fn tool(&mut self, step: &ToolStep) -> Result<Control, E> {
        self.calls += 1;
        let id = format!("call-{}", self.calls);
        let mut input = step.input.clone();
        let permission = self.permission(step, &id, &mut input).await?;
        match permission {
            Permission::Given => {
                (self.observer)(SimEvent::ToolRuns { tool: &step.name, input: &input })?;
                self.outcome(step, id, input).await
            }
            Permission::Refused => {
                (self.observer)(SimEvent::ToolRefused { tool: &step.name })?;
                Ok(Control::Next)
            }
            Permission::Halted => {
                (self.observer)(SimEvent::ToolRefused { tool: &step.name })?;
                Ok(Control::TurnOver)
            }
        }
    }

    /// Runs the hooks, and asks the user if they or the agent's own rules require it.
    async fn permission(&mut self, step: &ToolStep, id: &str, input: &mut RawJson) -> Result<Permission, E> {
        let call = |input: &RawJson| ToolCall::new(&*step.name, input.clone()).tool_use_id(id);
        let verdict =
            self.fire_if_hooked(&EventKind::ToolInputTransform, || Event::tool_input_transform(call(input))).await?;
        if let Some(refused) = refused(verdict.decision()) {
            return Ok(refused);
        }
        *input = effective(&verdict, Target::Input, input.clone());
        let guard = self.fire_if_hooked(&EventKind::ToolGuard, || Event::tool_guard(call(input))).await?;
        if let Some(refused) = refused(guard.decision()) {
            return Ok(refused);
        }
        let verdict = self.fire(Event::pre_tool_use(call(input))).await?;
        if let Some(refused) = refused(verdict.decision()) {
            return Ok(refused);
        }
        *input = effective(&verdict, Target::Input, input.clone());
        let asks = match verdict.decision().max(guard.decision()) {
            Decision::Allow => false,
            Decision::NoOpinion => step.asks,
            _ => true,
        };
        let (permission, source) =
            if asks { self.ask_user(step, call(input), input).await? } else { (Permission::Given, "hook") };
        let word = if matches!(permission, Permission::Given) { Answer::Allow } else { Answer::Deny }.name();
        let settled = || {
            let settled = ApprovalDecision::new(&*step.name, input.clone()).tool_use_id(id);
            Event::tool_approval_decision(settled.approval_decision(word).approval_source(source))
        };
        self.fire_if_hooked(&EventKind::ToolApprovalDecision, settled).await?;
        Ok(permission)
    }

    /// Asks the user, unless a hook answers the permission request. Returns the permission and its source.
    async fn ask_user(
        &mut self,
        step: &ToolStep,
        call: ToolCall,
        input: &mut RawJson,
    ) -> Result<(Permission, &'static str), E> {
        let verdict = self.fire(Event::permission_request(call)).await?;
        if let Some(refused) = refused(verdict.decision()) {
            return Ok((refused, "hook"));
        }
        *input = effective(&verdict, Target::Input, input.clone());
        if verdict.decision() == Decision::Allow {
            return Ok((Permission::Given, "hook"));
        }
        let text = format!("The agent needs your permission to use {}", step.name);
        let notice = || Event::notification(Notification::new().message(text).notification_type("permission_prompt"));
        self.fire_if_hooked(&EventKind::Notification, notice).await?;
        (self.observer)(SimEvent::UserAnswers { tool: &step.name, answer: step.answer })?;
        let permission = match step.answer {
            Answer::Allow => Permission::Given,
            Answer::Deny => Permission::Refused,
        };
        Ok((permission, "user"))
    }

    async fn outcome(&mut self, step: &ToolStep, id: String, input: RawJson) -> Result<Control, E> {
        let name = &*step.name;
        let (event, output) = match &step.outcome {
            ScriptedOutcome::Result(result) => {
                let outcome = ToolOutcome::new(name, input.clone()).tool_use_id(&*id);
                (Event::post_tool_use(outcome.tool_response(result.clone())), result.clone())
            }
            ScriptedOutcome::Failure(error) if self.has_event(&EventKind::PostToolFailure) => {
                let failure = ToolFailure::new(name, input.clone(), &**error).tool_use_id(&*id);
                (Event::post_tool_failure(failure.failure_type("error")), RawJson::string(error))
            }
            // Agents without an event for failures.
            ScriptedOutcome::Failure(error) => {
                let error = RawJson::string(error);
                let outcome = ToolOutcome::new(name, input.clone()).tool_use_id(&*id).is_error(true);
                (Event::post_tool_use(outcome.tool_response(error.clone())), error)
            }
        };
        let verdict = self.fire(event).await?;
        let output = effective(&verdict, Target::Output, output);
        let shown = || {
            let outcome = ToolOutcome::new(name, input).tool_use_id(id);
            Event::tool_output_transform(outcome.tool_response(output))
        };
        self.fire_if_hooked(&EventKind::ToolOutputTransform, shown).await?;
        Ok(if verdict.decision() == Decision::Halt { Control::TurnOver } else { Control::Next })
    }
}

fn refused(decision: Decision) -> Option<Permission> {
    match decision {
        Decision::Deny => Some(Permission::Refused),
        Decision::Halt => Some(Permission::Halted),
        _ => None,
    }
}
