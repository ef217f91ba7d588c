"""Training of a small model on distillation data, with trl and peft (``judgesmith[finetune]``)."""
